/** What a waiting operation takes in Redis, with every entry about it: a million of them are 1.5 GB. */
import { expect, it } from 'vitest';
import { operationsOf } from '../../machines/index.ts';
import { openLedger } from '../../persistence/index.ts';
import { Server } from '../bench/server.ts';
import { sampleOf, writeAlike } from '../bench/waiting/records.ts';
import { DUMPS, load } from '../fixtures/load.ts';

const COUNT = 300;
const LIMIT_BYTES = 1_500;

it('B3: is less than 1,500 bytes', { timeout: 60_000 }, async () => {
  const dump = DUMPS.find(({ name }) => name === '0.1.0/in-flight')?.dump;
  if (dump === undefined) throw new Error('there is no such fixture');
  const server = await Server.start('off');
  const memory = async (): Promise<number> => {
    let bytes = 0;
    for (const key of await server.redis.keys('*'))
      bytes += (await server.redis.memory('USAGE', key, 'SAMPLES', 0)) ?? 0;
    return bytes;
  };
  try {
    await load(server.url, dump);
    const ledger = await openLedger(server.url, { namespace: dump.namespace });
    await ledger.migrate();
    let waiting: string | undefined;
    for await (const { operationId, snapshot } of operationsOf(ledger)) {
      if (snapshot.includes('"callNodeId":"in-flight/working"')) waiting = operationId;
    }
    const sample = await sampleOf(ledger, waiting ?? '');
    const before = await memory();
    for (let nth = 0; nth < COUNT; nth++) await writeAlike(ledger, sample, nth);
    const each = ((await memory()) - before) / COUNT;
    await ledger.close();
    expect(each).toBeGreaterThan(500);
    expect(each).toBeLessThan(LIMIT_BYTES);
  } finally {
    await server.stop();
  }
});
