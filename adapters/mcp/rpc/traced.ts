import type { Attributes } from '@opentelemetry/api';
import { requestSpan, type TracedRequest, UNTRACED } from '../../../machines/telemetry/request.ts';
import type { TraceContext } from '../../../machines/telemetry/trace-context.ts';
import type { Reply } from './reply.ts';

interface Traced {
  /** For the `_meta` of the request (SEP-414). */
  readonly carried: Partial<TraceContext>;
  /** `null`: nobody wants to know. */
  readonly ended: ((reply: Reply) => void) | null;
}

/** One JSON-RPC request, as OpenTelemetry's conventions for MCP clients name it. Session and task ids are left out: they are secrets. */
export function requestOf(method: string, params: object, id: number, overHttp: boolean): Traced {
  const name: unknown = method === 'tools/call' ? Reflect.get(params, 'name') : undefined;
  const tool = typeof name === 'string' ? name : null;
  const attributes = (): Attributes => ({
    'mcp.method.name': method,
    'jsonrpc.request.id': String(id),
    'network.transport': overHttp ? 'tcp' : 'pipe',
    ...(tool === null ? {} : { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': tool }),
  });
  const span = tool === null ? method : `${method} ${tool}`;
  const traced = requestSpan(span, attributes, 'mcp.client.operation.duration');
  return { carried: traced.carried, ended: traced === UNTRACED ? null : (reply) => traced.end(endOf(reply)) };
}

function endOf(reply: Reply): Parameters<TracedRequest['end']>[0] {
  switch (reply.kind) {
    case 'result':
      return reply.value.isError === true ? { errorType: 'tool_error' } : {};
    case 'error':
      return { errorType: String(reply.code), attributes: { 'rpc.response.status_code': String(reply.code) } };
    case 'http':
      return { errorType: String(reply.status) };
    default:
      return { errorType: reply.kind };
  }
}
