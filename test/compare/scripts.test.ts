/** What the scripts cover; and a few of them really played by everybody. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CONTENDERS, type Contender, goingOn } from './contenders/contender.ts';
import { type Loaded, loadContenders } from './contenders/index.ts';
import { markdown } from './markdown.ts';
import { type Row, runAll } from './run.ts';
import { SCRIPTS } from './scripts/index.ts';
import { failuresOf } from './summary.ts';
import { terminalTable } from './table.ts';
import { withBlock } from './write.ts';

const PLAYED = ['completes', 'the first reply is lost', 'one poll is lost', 'a cancel that is only heard'];
const scripts = SCRIPTS.filter(({ name }) => PLAYED.includes(name));

describe('the scripts', () => {
  it('are at least 25, cover F1 to F11, and no two have one name', () => {
    expect(SCRIPTS.length).toBeGreaterThanOrEqual(25);
    const rows = new Set(SCRIPTS.flatMap((script) => script.rows));
    for (let nth = 1; nth <= 11; nth += 1) expect(rows).toContain(`F${nth}`);
    expect(new Set(SCRIPTS.map(({ name }) => name)).size).toBe(SCRIPTS.length);
    for (const { source } of SCRIPTS) if (source !== undefined) expect(new URL(source).protocol).toBe('https:');
  });
});

describe('played', () => {
  let loaded: Loaded;
  let rows: readonly Row[];
  beforeAll(async () => {
    loaded = await loadContenders();
    rows = await runAll({ scripts, contenders: loaded.contenders });
  }, 90_000);
  afterAll(async () => {
    await Promise.all(loaded.contenders.map((contender) => contender.stop()));
  });
  const cell = (name: string, protocol: string, contender: (typeof CONTENDERS)[number]) => {
    const found = rows.find((row) => row.script.name === name && row.protocol === protocol)?.cells[contender];
    if (found?.kind !== 'played') throw new Error(`not played: ${JSON.stringify(found)}`);
    return found;
  };

  it('everybody is there', () => {
    expect(loaded.missing).toEqual([]);
    expect(loaded.contenders.map(({ name }) => name)).toEqual([...CONTENDERS]);
  });

  it('F1 F4 F11 G2: we neither contradict a server nor make a second operation, and nobody could not be run', () => {
    expect(failuresOf(rows, loaded.missing)).toEqual([]);
  });

  it('an ordinary end is told alike by everybody', () => {
    const plain = rows.filter(({ script }) => script.name === 'completes');
    expect(plain).toHaveLength(3);
    for (const { cells } of plain) {
      for (const one of Object.values(cells)) expect(one).toMatchObject({ kind: 'played', verdict: { name: 'agree' } });
    }
  });

  it('F1: who calls again after a lost reply makes a second operation, unless the call keeps its node', () => {
    const { history } = cell('the first reply is lost', 'mcp-2025-11-25', 'callToolStream');
    expect(history.truth).toMatchObject({ operations: 2, creates: 2 });
    const ours = cell('the first reply is lost', 'mcp-2025-11-25', 'toolop').history;
    expect(ours.truth).toMatchObject({ operations: 1, creates: 1 });
    expect(ours.told.map(({ kind }) => kind)).toEqual(['parked', 'parked']);
  });

  it('the tables show every row and everybody in it', () => {
    const [text, block] = [terminalTable(rows, loaded), markdown(rows, loaded)];
    for (const { script } of rows) {
      expect(text).toContain(script.name);
      expect(block).toContain(script.name);
    }
    for (const name of CONTENDERS) {
      expect(text).toContain(name);
      expect(block).toContain(name);
    }
    expect(block.split('\n').filter((line) => line.startsWith('| **'))).toHaveLength(rows.length);
  });
});

describe('a contender that lies', () => {
  const liar: Contender = {
    name: 'toolop',
    version: '',
    protocols: ['aip-151'],
    can: [],
    notes: [],
    async open(scene) {
      return {
        call() {
          // It starts the operation twice, and says success before there is any.
          const start = () => fetch(`${scene.url}/v1/projects/tides/reports:generate`, { method: 'POST', body: '{}' });
          const told = Promise.all([start(), start()]).then(() =>
            goingOn(scene, { kind: 'completed', text: 'of course', isError: false }),
          );
          return { told, cancel: async () => undefined, leave: async () => undefined };
        },
        comeBack: () => Promise.reject(new Error('never')),
        close: async () => undefined,
      };
    },
    stop: async () => undefined,
  };

  it('is caught by the log of the server, and fails the run', async () => {
    const rows = await runAll({ scripts: scripts.filter(({ name }) => name === 'completes'), contenders: [liar] });
    const failures = failuresOf(rows, []);
    expect(failures).toHaveLength(1);
    expect(failures[0]).toContain('second operation');
    expect(failures[0]).toContain('another result');
  });

  it('one that cannot be run, or not be loaded, fails the run as well', async () => {
    const broken: Contender = { ...liar, open: () => Promise.reject(new Error('no such server')) };
    const rows = await runAll({ scripts: scripts.filter(({ name }) => name === 'completes'), contenders: [broken] });
    expect(failuresOf(rows, [{ name: 'google-gax', why: 'not installed' }])).toEqual([
      'toolop, completes (AIP-151): not run: no such server',
      'google-gax could not be loaded: not installed',
    ]);
  });
});

describe('the block of the README', () => {
  const START = '<!-- compare: generated by npm run compare -->';
  it('is put between its marks, and nowhere else', () => {
    const before = `above\n${START}\nold\n<!-- /compare -->\nbelow\n`;
    expect(withBlock(before, 'new')).toBe(`above\n${START}\nnew\n<!-- /compare -->\nbelow\n`);
  });
  it.each(['nothing', `${START}\n`, `<!-- /compare -->\n${START}\n`, `${START}\n${START}\n<!-- /compare -->\n`])(
    'is refused where the marks are not: %j',
    (text) => {
      expect(() => withBlock(text, 'new')).toThrow(/there must be one line/);
    },
  );
});
