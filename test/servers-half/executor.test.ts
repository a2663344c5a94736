/** The executor of this project against a server that adopted the half, with faults on the wire between them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ToolCall } from '../../machines/index.ts';
import { type HttpProxy, startHttpProxy } from '../kit/wire/http.ts';
import type { RuleInput } from '../kit/wire/rules.ts';
import { accepted, eventually, type Rig, startRig, until } from '../support/rig.ts';
import { type HalfRig, type ServerProcess, startHalfRig } from './rig.ts';

let half: HalfRig;
let rig: Rig;
let server: ServerProcess;
const proxies: HttpProxy[] = [];

beforeAll(async () => {
  half = await startHalfRig();
  rig = await startRig('embedded');
  server = await half.server();
});
afterAll(async () => {
  await rig.close();
  await Promise.all(proxies.map((proxy) => proxy.close()));
  await half.close();
});

let labels = 0;
async function between(...rules: RuleInput[]): Promise<HttpProxy> {
  const proxy = await startHttpProxy(server.url, rules);
  proxies.push(proxy);
  return proxy;
}
function callOf(url: string, kind = 'quick', tool = 'work', ask?: number): ToolCall & { readonly label: string } {
  const label = `${kind}-e${labels++}`;
  const endpoint = { kind: 'http', url, headers: { authorization: 'Bearer executor' } } as const;
  const args = ask === undefined ? { label } : { label, ask };
  return { callNodeId: label, endpoint, tool, arguments: args, label };
}

describe('2025-11-25', () => {
  it('F1, B4, G2: the reply to the call is lost: found by its key', async () => {
    const proxy = await between({ method: 'tools/call', direction: 'response', action: { kind: 'drop' } });
    const executor = await rig.executor();
    const { label, ...call } = callOf(proxy.url);
    const { receipt } = await executor.wait(await accepted(executor, call));
    expect(receipt).toMatchObject({ outcome: 'completed', attempt: 1 });
    expect(await half.count('begun', `work ${label}`)).toBe(1);
    expect((await proxy.log()).rules[0]?.hits).toBe(1);
  });

  it('B13: the call never arrived: the look-up closes the attempt, and the next one does the work, once', async () => {
    const proxy = await between({ method: 'tools/call', direction: 'request', action: { kind: 'drop' } });
    const executor = await rig.executor();
    const { label, ...call } = callOf(proxy.url);
    const { receipt } = await executor.wait(await accepted(executor, call));
    expect(receipt).toMatchObject({ outcome: 'completed', attempt: 2 });
    expect(await half.count('begun', `work ${label}`)).toBe(1);
  });

  it('section 6, G2: the call arrives after the look-up: it is refused, and the next attempt is the only one', async () => {
    const proxy = await between({
      method: 'tools/call',
      direction: 'request',
      action: { kind: 'reorder', behind: 'tools/call' },
    });
    const executor = await rig.executor({ requestTimeoutMs: 400 });
    const { label, ...call } = callOf(proxy.url);
    const { receipt } = await executor.wait(await accepted(executor, call));
    expect(receipt).toMatchObject({ outcome: 'completed', attempt: 2 });
    // The second call went past the first one, which was held until then; the server has answered both.
    await eventually(async () => {
      const { lines } = await proxy.log();
      return lines.filter(({ method, direction }) => method === 'tools/call' && direction === 'response').length === 2;
    });
    expect(await half.count('begun', `work ${label}`)).toBe(1);
  });

  it('B13: the server is killed over a resumable tool and comes back at its address: completed, under one task', async () => {
    const mine = await half.server();
    const executor = await rig.executor();
    const { label, ...call } = callOf(mine.url, 'hold', 'again');
    const id = await accepted(executor, call);
    await eventually(() => half.count('begun', `again ${label}`));
    const { snapshot } = await until(executor, id, (state) => state.startsWith('WORKING'));
    await mine.kill();
    await half.server({ port: Number(new URL(mine.url).port) });
    await half.release(label);
    const { receipt } = await executor.wait(id);
    expect(receipt).toMatchObject({ outcome: 'completed', taskId: snapshot.context.taskId });
    expect(await half.count('begun', `again ${label}`)).toBe(2);
    expect(await half.count('done', `again ${label}`)).toBe(1);
  });
});
