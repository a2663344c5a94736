/** The control port of a proxy: `POST /control` sets the rules, `GET /control/log` tells what happened. */
import http from 'node:http';
import { listen } from '../listen.ts';
import { toldBy, understood } from '../told.ts';
import { Command, type Rule, type RuleInput } from './rules.ts';
import type { Wire, WireLog } from './wire.ts';

/** What a running proxy is told, and what it tells. */
export interface WireControls {
  /** All rules anew; refused ones throw, with the reason. */
  rules(rules: readonly RuleInput[]): Promise<void>;
  /** Since its start. */
  log(): Promise<WireLog>;
}

/** Rules with their defaults. Throws what is wrong with them. */
export function readRules(told: unknown, transport: 'stdio' | 'http'): readonly Rule[] {
  const { rules } = understood(Command, told);
  const status = rules.find(({ action }) => action.kind === 'replace' && 'status' in action.with);
  if (transport === 'stdio' && status) throw new Error('"status" is for HTTP: there is none on stdio');
  return rules;
}

export async function answerControl(
  wire: Wire,
  transport: 'stdio' | 'http',
  request: http.IncomingMessage,
  response: http.ServerResponse,
): Promise<void> {
  const asked = `${request.method} ${request.url}`;
  if (asked === 'GET /control/log') {
    response.end(JSON.stringify(wire.log));
    return;
  }
  try {
    if (asked !== 'POST /control') throw new Error(`${asked} is not known; allowed: POST /control, GET /control/log`);
    wire.setRules(readRules(await toldBy(request), transport));
    response.end('{}');
  } catch (error) {
    response.writeHead(400).end((error as Error).message);
  }
}

/** A port for a proxy that has none of its own. */
export async function serveControl(wire: Wire, port: number): Promise<number> {
  const server = http.createServer((request, response) => void answerControl(wire, 'stdio', request, response));
  return listen(server, port);
}

/** Talks to the control port of a running proxy. */
export function wireControls(port: number): WireControls {
  const ask = (path: string, init?: RequestInit): Promise<Response> =>
    fetch(`http://127.0.0.1:${port}/control${path}`, init).catch((error: unknown) => {
      throw new Error(`no wire proxy answers on port ${port}`, { cause: error });
    });
  return {
    async rules(rules) {
      const response = await ask('', { method: 'POST', body: JSON.stringify({ rules }) });
      const text = await response.text();
      if (!response.ok) throw new Error(`rules refused: ${text}`);
    },
    async log() {
      return (await (await ask('/log')).json()) as WireLog;
    },
  };
}

export async function textOf(request: http.IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
