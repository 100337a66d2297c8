import { hash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { DeliveryStore } from '../../../src/postbacks/store/delivery-store.ts';
import type { PassStore } from '../../../src/postbacks/store/queue-store.ts';
import type { StateCounts } from '../../../src/postbacks/store/query-store.ts';
import { delivered, enqueuedAt, outboxRow, refused, type StoreForTest } from '../../support/deliveries.ts';

async function claimAll(pass: PassStore, limit = 10) {
  const claims = [{ siteKey: 's', dueBy: enqueuedAt, limit }];
  return (await pass.apply({ finished: [], unsent: [], circuits: [], claims })).flat();
}

async function deliverOne(store: DeliveryStore): Promise<void> {
  const pass = await store.beginPass(enqueuedAt);
  await pass.takeSites(['s'], 1);
  const finished = (await claimAll(pass, 1)).map(({ sequence, postback: { siteKey, clickId } }) => ({
    sequence,
    siteKey,
    clickId,
    attempts: 1,
    planAttempts: 1,
    startedAt: enqueuedAt + 1000,
    outcome: delivered,
    state: 'delivered' as const,
    nextAttemptAt: null,
  }));
  expect(finished).toHaveLength(1);
  await pass.apply({ finished, unsent: [], circuits: [], claims: [] });
  await pass.end();
}

/** What a store of deliveries keeps, wherever it lies. */
export function describeKeeping(storeForTest: () => Promise<StoreForTest>): void {
  describe('the store of deliveries', () => {
    it('takes each postback over once, whichever warehouse brings it', async () => {
      const { store } = await storeForTest();
      expect(await store.importedUpTo('first')).toBe(0);
      expect((await store.importOutbox('first', [outboxRow(1), outboxRow(2)])).added).toBe(2);
      expect((await store.importOutbox('first', [outboxRow(2), outboxRow(5)])).added).toBe(1);
      expect(
        (
          await store.importOutbox('second', [
            outboxRow(3, { webhookId: 'w5', reward: '9' }),
            outboxRow(4, { webhookId: 'w9' }),
          ])
        ).added,
      ).toBe(1);
      expect([await store.importedUpTo('first'), await store.importedUpTo('second')]).toEqual([5, 4]);
      expect((await store.changesSince(0)).postbacks.map(({ webhookId, reward }) => [webhookId, reward])).toEqual([
        ['w1', '0.5'],
        ['w2', '0.5'],
        ['w5', '0.5'],
        ['w9', '0.5'],
      ]);
    });

    it('counts what is neither delivered nor given up, and knows the earliest event of it', async () => {
      const { store } = await storeForTest();
      expect(await store.backlog()).toEqual({ postbacks: 0, oldestOccurredAt: null });
      const occurred = ['2026-11-20T09:00:00Z', '2026-11-20T08:30:00.5Z', '2026-11-20T09:30:00Z'];
      await store.importOutbox(
        'first',
        occurred.map((occurredAt, index) => outboxRow(index + 1, { occurredAt, clickId: `c${index}` })),
      );
      expect(await store.backlog()).toEqual({ postbacks: 3, oldestOccurredAt: Date.parse('2026-11-20T08:30:00.5Z') });
      await deliverOne(store);
      expect(await store.backlog()).toMatchObject({ postbacks: 2 });
    });

    it('counts by site and tells whether they are the same, in any order of ids', async () => {
      const { store } = await storeForTest();
      await store.importOutbox('first', [
        outboxRow(1, { webhookId: 'b', siteKey: 't' }),
        outboxRow(2, { webhookId: 'B', siteKey: 't' }),
        outboxRow(3, { webhookId: 'a-', siteKey: 'S' }),
        outboxRow(4, { webhookId: 'aa', siteKey: 't', occurredAt: '2026-11-21T00:00:00Z' }),
      ]);
      const digest = (...ids: string[]) => hash('sha256', ids.map((id) => `${id}\n`).join(''));
      expect(await store.countBySite({})).toEqual([
        { siteKey: 'S', postbacks: 1, idsSha256: digest('a-') },
        { siteKey: 't', postbacks: 3, idsSha256: digest('B', 'aa', 'b') },
      ]);
      expect(await store.countBySite({ site: 't', until: '2026-11-21T00:00:00Z' })).toEqual([
        { siteKey: 't', postbacks: 2, idsSha256: digest('B', 'b') },
      ]);
      expect(await store.countBySite({ state: 'dead' })).toEqual([]);
    });

    it('counts by state and by reason, and tells which of a click goes first', async () => {
      const { store } = await storeForTest();
      await store.importOutbox('first', [
        outboxRow(1, { clickId: 'k', occurredAt: '2026-11-20T09:57:00Z' }),
        outboxRow(2, { clickId: 'k', occurredAt: '2026-11-20T09:58:00Z' }),
        outboxRow(3, { siteKey: 'S' }),
      ]);
      expect(await store.nextOfClick('k')).toBe('w1');
      const ended = { attempts: 1, planAttempts: 1, startedAt: enqueuedAt, nextAttemptAt: null };
      const pass = await store.beginPass(enqueuedAt);
      await pass.takeSites(['s'], 1);
      const [first] = await claimAll(pass, 1);
      const about = { ...ended, sequence: first?.sequence ?? 0, siteKey: 's', clickId: 'k' };
      await pass.apply({
        finished: [{ ...about, outcome: refused, state: 'dead' }],
        unsent: [],
        circuits: [],
        claims: [],
      });
      await pass.end();
      expect((await store.countByState()).states).toEqual([
        { siteKey: 'S', state: 'pending', postbacks: 1 },
        { siteKey: 's', state: 'dead', postbacks: 1 },
        { siteKey: 's', state: 'pending', postbacks: 1 },
      ]);
      expect(await store.countByError()).toEqual([
        { error: 'http_status', status: 500, state: 'dead', sites: 1, postbacks: 1 },
      ]);
      expect(await store.nextOfClick('k')).toBe('w2');
      expect(await store.nextOfClick('nobody')).toBeUndefined();
      const found = async (skipped: number) => (await store.find({}, 2, skipped)).map(({ webhookId }) => webhookId);
      expect([await found(0), await found(2)]).toEqual([['w3', 'w2'], ['w1']]);
    });

    it('counts on from what it counted before, and finds the newest of a state among all sites', async () => {
      const { store } = await storeForTest();
      const at = (second: number) => `2026-11-20T09:00:${String(second).padStart(2, '0')}Z`;
      await store.importOutbox('first', [
        outboxRow(1, { siteKey: 't', occurredAt: at(1) }),
        outboxRow(2, { occurredAt: at(2) }),
        outboxRow(3, { siteKey: 't', occurredAt: at(3) }),
        outboxRow(4, { occurredAt: at(4) }),
        outboxRow(5, { siteKey: 'u', occurredAt: at(5) }),
      ]);
      let counted: StateCounts | undefined;
      const counts = async () => {
        counted = await store.countByState(counted);
        return counted.states.map(({ siteKey, state, postbacks }) => `${siteKey} ${state} ${postbacks}`);
      };
      const pendingOnes = async (limit: number, skipped = 0) =>
        (await store.find({ state: 'pending' }, limit, skipped)).map(({ webhookId }) => webhookId);
      expect(await counts()).toEqual(['s pending 2', 't pending 2', 'u pending 1']);
      expect([await pendingOnes(3), await pendingOnes(3, 3), await pendingOnes(9, 4)]).toEqual([
        ['w5', 'w4', 'w3'],
        ['w2', 'w1'],
        ['w1'],
      ]);
      await deliverOne(store);
      expect(await counts()).toEqual(['s delivered 1', 's pending 1', 't pending 2', 'u pending 1']);
      await deliverOne(store);
      await store.importOutbox('first', [outboxRow(6, { siteKey: 'u', occurredAt: at(0) })]);
      expect(await counts()).toEqual(['s delivered 2', 't pending 2', 'u pending 2']);
      expect(await counts()).toEqual(['s delivered 2', 't pending 2', 'u pending 2']);
      expect((await store.countByState()).states).toEqual(counted?.states);
      const other = {
        storeId: 'another',
        upTo: 0,
        states: [{ siteKey: 's', state: 'delivered' as const, postbacks: 9 }],
      };
      expect((await store.countByState(other)).states).toEqual(counted?.states);
      expect(await pendingOnes(9)).toEqual(['w5', 'w3', 'w1', 'w6']);
      expect((await store.find({ state: 'delivered' }, 9)).map(({ webhookId }) => webhookId)).toEqual(['w4', 'w2']);
      expect(await store.find({ state: 'dead' }, 9)).toEqual([]);
    });

    it('sends again what its site orders, once for one order', async () => {
      const { store } = await storeForTest();
      await store.importOutbox('first', [
        outboxRow(1, { clickId: 'k', occurredAt: '2026-11-20T09:57:00Z' }),
        outboxRow(2, { clickId: 'k', occurredAt: '2026-11-20T09:58:00Z' }),
      ]);
      const order = { siteKey: 's', webhookId: 'w1', attempts: 1 };
      const now = enqueuedAt + 5000;
      expect((await store.resend(order, enqueuedAt))?.isNew).toBe(false);
      await deliverOne(store);
      const counted = await store.countByState();
      expect(await store.resend({ ...order, siteKey: 'S' }, now)).toBeUndefined();
      expect(await store.resend({ ...order, webhookId: 'c1' }, now)).toBeUndefined();
      expect((await store.resend({ ...order, attempts: 0 }, now))?.isNew).toBe(false);
      expect(await store.nextOfClick('k')).toBe('w2');
      const upTo = (await store.changesSince(0)).upTo;
      expect(await store.resend(order, now)).toMatchObject({
        isNew: true,
        postback: { state: 'pending', attempts: 1, deliveredAt: null, nextAttemptAt: '2026-11-20T10:00:05Z' },
      });
      expect((await store.resend(order, now))?.isNew).toBe(false);
      expect((await store.changesSince(upTo)).postbacks.map(({ webhookId }) => webhookId)).toEqual(['w1']);
      // In the order of its click.
      expect(await store.nextOfClick('k')).toBe('w1');
      expect((await store.countByState(counted)).states).toEqual([{ siteKey: 's', state: 'pending', postbacks: 2 }]);
      const pass = await store.beginPass(now);
      await pass.takeSites(['s'], 1);
      const claims = [{ siteKey: 's', dueBy: now, limit: 9 }];
      const [claimed] = await pass.apply({ finished: [], unsent: [], circuits: [], claims });
      expect(claimed).toMatchObject([{ postback: { webhookId: 'w1' }, attempts: 1, planAttempts: 0 }]);
      expect(await store.resend(order, now + 1)).toMatchObject({ isNew: false, postback: { state: 'delivering' } });
      const ended = { siteKey: 's', clickId: 'k', attempts: 2, planAttempts: 1, startedAt: now, nextAttemptAt: null };
      const finished = [
        { ...ended, sequence: claimed?.[0]?.sequence ?? 0, outcome: delivered, state: 'delivered' as const },
      ];
      await pass.apply({ finished, unsent: [], circuits: [], claims: [] });
      await pass.end();
      expect(await store.resend(order, now + 1)).toMatchObject({ isNew: false, postback: { state: 'delivered' } });
      expect((await store.countByState(counted)).states).toEqual([
        { siteKey: 's', state: 'delivered', postbacks: 1 },
        { siteKey: 's', state: 'pending', postbacks: 1 },
      ]);
    });

    it('takes over all rows or none', async () => {
      const { store } = await storeForTest();
      const breaking = function* () {
        yield outboxRow(1);
        throw new Error('the warehouse broke off');
      };
      await expect(async () => store.importOutbox('first', breaking())).rejects.toThrow('broke off');
      expect([await store.importedUpTo('first'), (await store.changesSince(0)).postbacks]).toEqual([0, []]);
    });

    it('gives back what it was given, to the microsecond', async () => {
      const { store } = await storeForTest();
      const row = outboxRow(1, {
        occurredAt: '2026-11-20T09:59:00.000001Z',
        userId: 'ü & \u0000 \u0001\u0001\u0002',
        reward: '0.0001',
        kind: 'chargeback',
        further: JSON.stringify({ sub1: '\u0000 "ü', payout: '0.25' }),
      });
      await store.importOutbox('first', [row]);
      const { number: _number, ...kept } = row;
      expect((await store.changesSince(0)).postbacks).toEqual([
        {
          ...kept,
          state: 'pending',
          attempts: 0,
          lastAttemptAt: null,
          lastStatus: null,
          lastError: null,
          deliveredAt: null,
          nextAttemptAt: row.enqueuedAt,
        },
      ]);
      const pass = await store.beginPass(enqueuedAt);
      await pass.takeSites(['s'], 1);
      expect((await claimAll(pass))[0]?.postback.further).toEqual({
        sub1: '\u0000 "ü',
        payout: '0.25',
        conversion_id: 'c1',
        offer_id: '7',
      });
    });

    it('tells every change once, in pages of any size', async () => {
      const { store } = await storeForTest();
      await store.importOutbox('first', [outboxRow(1), outboxRow(2), outboxRow(3), outboxRow(4)]);
      const known = (await store.changesSince(0)).upTo;
      for (let attempts = 0; attempts < 3; attempts++) await deliverOne(store);
      for (const limit of [1, 2, 3, 100]) {
        const told = { postbacks: [] as string[], attempts: [] as string[] };
        for (let upTo = known, before = -1; upTo !== before;) {
          const page = await store.changesSince(upTo, limit);
          told.postbacks.push(...page.postbacks.map(({ webhookId, state }) => `${webhookId} ${state}`));
          told.attempts.push(
            ...page.attempts.map(({ webhookId, attempt, status }) => `${webhookId} ${attempt} ${status}`),
          );
          [before, upTo] = [upTo, page.upTo];
        }
        expect(told, `pages of ${limit}`).toEqual({
          postbacks: ['w1 delivered', 'w2 delivered', 'w3 delivered'],
          attempts: ['w1 1 200', 'w2 1 200', 'w3 1 200'],
        });
      }
    });

    it('lets a refresh write while another connection is open, and says the same from there', async () => {
      const { store, another } = await storeForTest();
      const other = await another();
      expect(other.storeId).toBe(store.storeId);
      await store.importOutbox('first', [outboxRow(1)]);
      await other.importOutbox('first', [outboxRow(2)]);
      expect(await store.changesSince(0)).toEqual(await other.changesSince(0));
      expect((await store.changesSince(0)).postbacks).toHaveLength(2);
    });

    it('is brought back without sending again what was delivered', async () => {
      const { store: lost } = await storeForTest();
      await lost.importOutbox('first', [outboxRow(1), outboxRow(2)]);
      await deliverOne(lost);
      const { postbacks } = await lost.changesSince(0);
      const { store: found } = await storeForTest();
      expect(found.storeId).not.toBe(lost.storeId);
      expect(await found.restore(postbacks)).toBe(2);
      expect((await found.importOutbox('first', [outboxRow(1), outboxRow(2), outboxRow(3)])).added).toBe(1);
      const pass = await found.beginPass(enqueuedAt);
      expect((await claimAll(pass)).map(({ postback }) => postback.webhookId)).toEqual(['w2', 'w3']);
      const sorted = (states: typeof postbacks) => states.toSorted((a, b) => a.webhookId.localeCompare(b.webhookId));
      expect(sorted((await found.changesSince(0)).postbacks).filter(({ webhookId }) => webhookId === 'w1')).toEqual(
        postbacks.filter(({ webhookId }) => webhookId === 'w1'),
      );
    });
  });
}
