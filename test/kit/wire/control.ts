/** The control port of a proxy: `POST /control` sets the rules, `GET /control/log` tells what happened. */
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import { Command, type Rule, type RuleInput } from './rules.ts';
import type { Wire, WireLog } from './wire.ts';

/** What a running proxy is told, and what it tells. */
export interface WireControls {
  /** All rules anew; refused ones throw, with the reason. */
  rules(rules: readonly RuleInput[]): Promise<void>;
  /** Since its start. */
  log(): Promise<WireLog>;
}

/** Rules as they came, or what is wrong with them. */
export function readRules(value: unknown, transport: 'stdio' | 'http'): readonly Rule[] {
  const { rules } = Command.parse(value);
  const status = rules.find(({ action }) => action.kind === 'replace' && 'status' in action.with);
  if (transport === 'stdio' && status) throw new Error('there is no HTTP status on stdio');
  return rules;
}

export async function answerControl(
  wire: Wire,
  transport: 'stdio' | 'http',
  request: http.IncomingMessage,
  response: http.ServerResponse,
): Promise<void> {
  if (request.method === 'GET') {
    response.end(JSON.stringify(wire.log));
    return;
  }
  try {
    wire.setRules(readRules(JSON.parse(await textOf(request)), transport));
    response.end('{}');
  } catch (error) {
    response.writeHead(400).end(error instanceof z.ZodError ? z.prettifyError(error) : String(error));
  }
}

/** A port for a proxy that has none of its own. */
export async function serveControl(wire: Wire, port: number): Promise<number> {
  const server = http.createServer((request, response) => void answerControl(wire, 'stdio', request, response));
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

/** Talks to the control port of a running proxy. */
export function wireControls(port: number): WireControls {
  const base = `http://127.0.0.1:${port}/control`;
  return {
    async rules(rules) {
      const response = await fetch(base, { method: 'POST', body: JSON.stringify({ rules }) });
      const text = await response.text();
      if (!response.ok) throw new Error(`rules refused: ${text}`);
    },
    async log() {
      return (await (await fetch(`${base}/log`)).json()) as WireLog;
    },
  };
}

export async function textOf(request: http.IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
