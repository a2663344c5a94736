/** Nothing in a ledger of shadows can be consumed, whatever its store is asked (R1). */
import { describe, expect, it } from 'vitest';
import { sha256 } from '../../../machines/digest.ts';
import type { OperationLedger } from '../../../machines/operation-ledger.ts';
import { Keys } from '../../../persistence/keys.ts';
import { fieldsDigest, packBody, shortCommand } from '../../../persistence/record-form.ts';
import { acceptStep, NAMESPACE, step, unique } from '../steps.ts';
import { META, runOnHistory, type StoreBench } from './bench.ts';

export function shadowsInStore(bench: StoreBench): void {
  const { open } = bench;

  describe('shadows', () => {
    const openShadows = () => open({ kind: 'shadow', partitions: 3 });
    const shadowIn = (shadows: OperationLedger): string =>
      shadows.operationIdOf({ namespace: `${NAMESPACE}/shadow`, principal: 'alice', callNodeId: unique('node') });
    const shadowKey = (operationId: string, name: string): string =>
      `toolop:1:{${encodeURIComponent(`${NAMESPACE}/shadow`)}/${operationId.slice(0, 3)}}:${name}`;

    it('R1: the script itself looks at the kind, whoever runs it', async () => {
      const { store } = bench;
      const shadows = await openShadows();
      const operationId = shadowIn(shadows);
      await shadows.create(step(operationId), null);
      const key = (name: string) => shadowKey(operationId, name);
      const { fields: claimed, commandId, snapshot } = step(operationId);
      const compared = fieldsDigest(claimed);
      const host = await store.host();
      try {
        const partition = new Keys(`${NAMESPACE}/shadow`).partition(Number(operationId.slice(1, 3)));
        const answer = await runOnHistory(
          host,
          partition,
          'accept',
          [
            `op:${operationId}`,
            `hist:${operationId}`,
            `pay:${operationId}`,
            'due:endpoint:e',
            'scopes',
            'rc',
            'ready',
            'readyq',
            'switches',
          ].map(key),
          [
            '',
            operationId,
            shortCommand(`${commandId} once more`),
            packBody({ state: 'ACCEPTED', fields: claimed, snapshot }, operationId),
            'endpoint:e',
            '',
            '',
            compared,
            '1',
            '1',
            compared,
            '{}',
            'r',
            sha256('{}'),
            claimed.requestDigest,
            claimed.terminalState,
            ...Object.values(claimed),
          ],
        );
        expect(answer).toEqual(['accepted', '2']);
        const ready = await host.run('accepted', ['nothing', 'ready', 'nothing', 'readyq'].map(key), ['']);
        expect(ready).toEqual([]);
      } finally {
        await host.close();
      }
      expect(await shadows.readReceipt(operationId)).toBe('{}');
      expect(await shadows.leaseReady('c', 10, 1000)).toEqual([]);
    });

    it('R1: the audit of a ledger of shadows finds what could be consumed', async () => {
      const { store } = bench;
      const shadows = await openShadows();
      const [ready, queued, consumed] = (await Promise.all(
        Array.from({ length: 3 }, async () => {
          const operationId = shadowIn(shadows);
          await shadows.create(step(operationId), null);
          await shadows.acceptTerminal(acceptStep(operationId, '1'));
          return operationId;
        }),
      )) as [string, string, string];
      expect(await shadows.audit()).toEqual([]);
      const digest = sha256((await shadows.readReceipt(ready)) as string);
      await store.plant(shadowKey(ready, 'ready'), ready, digest);
      await store.plant(
        shadowKey(consumed, 'consumed'),
        consumed,
        `${sha256((await shadows.readReceipt(consumed)) as string)} c t`,
      );
      const findings = await shadows.audit();
      expect(findings).toHaveLength(2);
      expect(findings).toContainEqual({ operationId: ready, problem: 'a shadow that waits to be consumed' });
      expect(findings).toContainEqual({ operationId: consumed, problem: 'a shadow that was consumed' });
      await store.plant(shadowKey(queued, 'rc'), queued, null);
      expect(await shadows.audit()).toContainEqual({ operationId: queued, problem: expect.stringContaining('gone') });
    });

    it('R1: a namespace of another kind is left untouched, with clear words', async () => {
      const { store } = bench;
      await openShadows();
      await expect(open({ namespace: `${NAMESPACE}/shadow` })).rejects.toThrow(
        /made for shadow.*operations.*untouched/,
      );
      await open({ namespace: 'plain/shadow' });
      await expect(open({ namespace: 'plain', kind: 'shadow' })).rejects.toThrow(/made for operations.*shadow/);
      // Made before there were kinds.
      await store.plant(META, 'kind', null);
      expect((await open()).kind).toBe('operations');
    });

    it('R1: a comparison has its limit', async () => {
      const shadows = await openShadows();
      const large = shadows.setComparison(shadowIn(shadows), null, 'x'.repeat(65_537));
      await expect(large).rejects.toThrow(/limit is 65536/);
    });

    it('R1: a partition that lost its mark is found, and marked before anybody has the ledger in hand', async () => {
      const { store } = bench;
      const shadows = await openShadows();
      const switches = `toolop:1:{${encodeURIComponent(`${NAMESPACE}/shadow`)}/p01}:switches`;
      await store.plant(switches, 'kind', null);
      expect(await shadows.audit()).toEqual([
        { operationId: 'p01', problem: expect.stringContaining('marked for operations') },
      ]);
      await openShadows();
      expect(await shadows.audit()).toEqual([]);
    });
  });
}
