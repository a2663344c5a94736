import { describe, expect, it } from 'vitest';
import { publicAddress } from '../../persistence/index.ts';
import { ExitCode, exitCodeOf } from '../../visualizer/cli/exit-codes.ts';
import { httpEndpoint, readHeaders, readJsonObject } from '../../visualizer/cli/options.ts';
import { redacted } from '../../visualizer/cli/redact.ts';
import { jsonLine, manyLines, oneLine, shellWord } from '../../visualizer/cli/text.ts';

const HOSTILE = 'a\u001b[2Jb\u001b]0;title\u0007c\r\nd\u009b31me\u202ef\u0000g';

describe('text of others on a terminal', () => {
  it('loses whatever steers a terminal', () => {
    expect(oneLine(HOSTILE)).toBe('abc defg');
    expect(manyLines(HOSTILE)).toBe('abc\ndefg');
    expect(oneLine('x'.repeat(300), 10)).toBe('xxxxxxxxx…');
    expect(oneLine('\ud800')).toBe('?');
  });

  it('as JSON keeps its value and steers nothing', () => {
    const line = jsonLine({ HOSTILE });
    expect(JSON.parse(line)).toEqual({ HOSTILE });
    expect(line).toMatch(/^[\x20-\x7e]+$/);
  });

  it('is one word of a shell', () => {
    expect([shellWord('p00.ab'), shellWord("it's; rm")]).toEqual(['p00.ab', "'it'\\''s; rm'"]);
  });
});

describe('secrets', () => {
  it('task and session ids are digests wherever they stand', () => {
    const of = { taskId: 'task-1', session: { sessionId: 's-1', protocolVersion: 'x' } };
    const text = JSON.stringify(redacted({ a: ['about task-1'], b: { c: 's-1' }, n: 1, z: null }, of));
    expect(text).toMatch(/^\{"a":\["about task:[0-9a-f]{8}"\],"b":\{"c":"session:[0-9a-f]{8}"\},"n":1,"z":null\}$/);
  });

  it('credentials are neither in a shown ledger nor taken in a URL', () => {
    expect(publicAddress('redis://me:word@host:1/2')).toBe('redis://host:1/2');
    expect(() => httpEndpoint('https://me:word@host/', {})).toThrow(/user name or password/);
    expect(readHeaders(['A: b: c'])).toEqual({ A: 'b: c' });
  });
});

it('arguments that are none are refused by name', () => {
  expect(readJsonObject('{"a":1}', '--args')).toEqual({ a: 1 });
  expect(() => readJsonObject('[1]', '--args')).toThrow(/--args is to be a JSON object/);
  expect(() => readJsonObject('@/nowhere.json', '--args')).toThrow(/nowhere.json cannot be read \(ENOENT\)/);
  expect(() => httpEndpoint('ftp://host', {})).toThrow(/http:\/\//);
});

it('every outcome has its exit code', () => {
  const codes = (['completed', 'failed', 'cancelled', 'not_submitted', 'given_up'] as const).map((outcome) =>
    exitCodeOf({ outcome, isError: false }),
  );
  expect(codes).toEqual([
    ExitCode.completed,
    ExitCode.failed,
    ExitCode.cancelled,
    ExitCode.notSubmitted,
    ExitCode.unknown,
  ]);
  expect(exitCodeOf({ outcome: 'completed', isError: true })).toBe(ExitCode.failed);
});
