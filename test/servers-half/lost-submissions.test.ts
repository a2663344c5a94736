import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type RedisServer, startRedis } from '../support/redis.ts';
import { lostSubmissions } from './lost-submissions.ts';

let redis: RedisServer;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());

it('B4, B13, G2: lost, late and interrupted submissions never make a second task, nor one of a call that was given up', async () => {
  const report = await lostSubmissions({ redis: redis.url, count: 300, seed: 1, rules: 'contract' });
  expect(report).toMatchObject({ duplicates: 0, orphans: 0, lost: 0 });
  // All of it happened, or this proves nothing.
  expect(report.repliesDropped).toBeGreaterThan(100);
  expect(report.arrivedAfterLookup).toBeGreaterThan(30);
  expect(report.senderStops).toBeGreaterThan(100);
  expect(report.givenUp).toBeGreaterThan(5);
});

it('the same judge finds the second tasks of those who call again under a new key', async () => {
  const report = await lostSubmissions({ redis: redis.url, count: 300, seed: 1, rules: 'callAgain' });
  expect(report.duplicates).toBeGreaterThan(0);
});

it('the same judge finds the tasks that nobody owns where "never created" closes nothing', async () => {
  const report = await lostSubmissions({ redis: redis.url, count: 300, seed: 1, rules: 'noClosing' });
  expect(report.orphans).toBeGreaterThan(0);
});

it('a Redis that goes away for good ends all of it, with the reason', async () => {
  const mine = await startRedis();
  // Who calls again without an answer would do so for ever.
  const ended = lostSubmissions({ redis: mine.url, count: 100_000, seed: 1, rules: 'callAgain' });
  const expected = expect(ended).rejects.toThrow(/max retries|closed/i);
  await sleep(300);
  await mine.stop();
  await expected;
});
