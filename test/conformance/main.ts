/**
 * `npm run conformance`: the official server scenarios of the tasks extension against the half of 2026-07-28.
 *
 * The official package wants a newer Node than this project and is no dependency of it: both are installed, pinned, into a
 * cache outside of the project.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startRedis } from '../support/redis.ts';
import { startConformanceServer } from './server.ts';

const VERSION = '0.2.0-alpha.12';
const NODE = '22';
/** The npm package that brings it; that of Linux needs no script to be run at its installation. */
const NODE_PACKAGE = process.platform === 'linux' ? `node-linux-${process.arch}` : 'node';
const SCENARIOS = [
  'tasks-lifecycle',
  'tasks-capability-negotiation',
  'tasks-wire-fields',
  'tasks-request-state-removal',
  'tasks-mrtr-input',
  'tasks-request-headers',
  'tasks-dispatch-and-envelope',
  'tasks-status-notifications',
  'tasks-required-task-error',
  'tasks-mrtr-composition',
];
/** Scenarios that say nothing yet, and why. */
const NOT_APPLICABLE: Readonly<Record<string, string>> = {
  'tasks-status-notifications': 'the official harness skips all of its checks (its own rewrite is pending)',
};

const cache = join(tmpdir(), `toolop-conformance-${VERSION}`);
const runner = join(cache, 'node_modules', '@modelcontextprotocol', 'conformance', 'dist', 'index.js');

function install(): string {
  mkdirSync(cache, { recursive: true });
  const ownNode = Number(process.versions.node.split('.')[0]) >= Number(NODE);
  const packages = [`@modelcontextprotocol/conformance@${VERSION}`, ...(ownNode ? [] : [`${NODE_PACKAGE}@${NODE}`])];
  const node = ownNode ? process.execPath : join(cache, 'node_modules', NODE_PACKAGE, 'bin', 'node');
  if (existsSync(runner) && existsSync(node)) return node;
  console.log(`installing ${packages.join(' and ')} into ${cache}`);
  const { status } = spawnSync('npm', ['install', '--prefix', cache, '--no-audit', '--no-fund', ...packages], {
    cwd: cache,
    stdio: 'inherit',
  });
  if (status !== 0) throw new Error('the official package could not be installed');
  return node;
}

interface Verdict {
  readonly scenario: string;
  readonly verdict: 'passed' | 'failed' | 'not applicable';
  readonly detail: string;
}

async function judge(node: string, url: string, scenario: string): Promise<Verdict> {
  const { code, said } = await output(node, [runner, 'server', '--url', url, '--scenario', scenario]);
  const passed = Number(/Passed:\s*(\d+)/.exec(said)?.[1] ?? 0);
  const total = Number(/Passed:\s*\d+\/(\d+)/.exec(said)?.[1] ?? 0);
  const failed = Number(/(\d+) failed/.exec(said)?.[1] ?? Number.NaN);
  const reason = NOT_APPLICABLE[scenario];
  if (code === 0 && passed > 0 && failed === 0) return { scenario, verdict: 'passed', detail: `${passed}/${total}` };
  if (code === 0 && reason !== undefined && total === 0) return { scenario, verdict: 'not applicable', detail: reason };
  return { scenario, verdict: 'failed', detail: `${passed}/${total}, exit ${code}\n${said}` };
}

function output(command: string, args: readonly string[]): Promise<{ code: number | null; said: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: cache, stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        said += chunk.toString();
      });
    }
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, said }));
  });
}

const node = install();
const redis = await startRedis();
const url = await startConformanceServer(redis.url);
const verdicts: Verdict[] = [];
for (const scenario of SCENARIOS) {
  const verdict = await judge(node, url, scenario);
  verdicts.push(verdict);
  console.log(`${verdict.verdict.padEnd(15)} ${scenario.padEnd(32)} ${verdict.detail}`);
}
await redis.stop();
const failures = verdicts.filter(({ verdict }) => verdict === 'failed');
console.log(`${verdicts.length} scenarios, ${failures.length} failed`);
process.exit(failures.length === 0 ? 0 : 1);
