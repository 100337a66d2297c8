import { describe, expect, it } from 'vitest';
import { deliverDue, type DeliveryRequest } from '../../../src/postbacks/pass/deliver-due.ts';
import type { Outcome } from '../../../src/postbacks/rules/outcome.ts';
import { readSilentSites } from '../../../src/postbacks/silent-sites.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { noProgress } from '../../../src/kit/logging/progress.ts';
import {
  delivered,
  enqueuedAt,
  hour,
  outboxRow,
  receiver,
  refused,
  siteWith,
  unreachable,
  type StoreForTest,
} from '../../support/deliveries.ts';

const second = 1000;
const minute = 60 * second;
const start = enqueuedAt + second;

export interface Passes extends StoreForTest {
  /** One pass at that moment. `random` of a half means no jitter. */
  pass(now: number, own?: Partial<DeliveryRequest>): ReturnType<typeof deliverDue>;
  logged: string[];
}

export async function passesIn(
  { store, another }: StoreForTest,
  rows: ReturnType<typeof outboxRow>[],
): Promise<Passes> {
  await store.importOutbox('warehouse', rows);
  const logged: string[] = [];
  const logger = createLogger({ write: (line) => logged.push(line) });
  return {
    store,
    another,
    logged,
    pass: (now, own = {}) =>
      deliverDue({
        store,
        sites: [siteWith('s'), siteWith('t')],
        logger,
        progress: noProgress,
        sender: receiver(),
        now: () => now,
        random: () => 0.5,
        ...own,
      }),
  };
}

async function stateOf({ store }: Passes, id: string) {
  const [shown] = await store.show(id);
  if (shown === undefined) throw new Error(`there is no postback ${id}`);
  const { state, attempts, lastStatus, lastError, nextAttemptAt } = shown.postback;
  return { state, attempts, lastStatus, lastError, nextAttemptAt };
}
const nextOf = async (passes: Passes, id: string) => Date.parse((await stateOf(passes, id)).nextAttemptAt ?? '');

/** What a pass promises, wherever the store lies. */
export function describePasses(storeForTest: () => Promise<StoreForTest>): void {
  const passesOver = async (...rows: ReturnType<typeof outboxRow>[]) => passesIn(await storeForTest(), rows);

  describe('a pass', () => {
    it('sends what is due, and the same not again', async () => {
      const passes = await passesOver(outboxRow(1), outboxRow(2));
      const sender = receiver();
      expect(await passes.pass(start, { sender })).toEqual({
        due: 2,
        delivered: 2,
        failed: 0,
        dead: 0,
        postponed: 0,
        remaining: 0,
      });
      expect(await passes.pass(start + hour, { sender })).toMatchObject({ due: 0, delivered: 0 });
      expect(sender.sent).toEqual(['w1', 'w2']);
      expect(await stateOf(passes, 'w1')).toEqual({
        state: 'delivered',
        attempts: 1,
        lastStatus: 200,
        lastError: null,
        nextAttemptAt: null,
      });
    });

    it('sends the events of a click in their order, each after the one before it has ended, in one pass', async () => {
      const click = { clickId: 'k' };
      const passes = await passesOver(
        outboxRow(1, { ...click, webhookId: 'later', occurredAt: '2026-11-20T09:00:00.000001Z' }),
        outboxRow(2, {
          ...click,
          webhookId: 'chargeback',
          kind: 'chargeback',
          conversionId: 'a',
          occurredAt: '2026-11-20T09:00:00Z',
        }),
        outboxRow(3, {
          ...click,
          webhookId: 'reject',
          kind: 'reject',
          conversionId: 'a',
          occurredAt: '2026-11-20T09:00:00Z',
        }),
        outboxRow(4, { ...click, webhookId: 'second credit', conversionId: 'b', occurredAt: '2026-11-20T09:00:00Z' }),
        outboxRow(5, { ...click, webhookId: 'first credit', conversionId: 'a', occurredAt: '2026-11-20T09:00:00Z' }),
      );
      // Looked at outside: what a sender throws is a failed attempt.
      const underWay: number[] = [];
      let now = 0;
      const sender = receiver(async () => {
        underWay.push(++now);
        await Promise.resolve();
        now -= 1;
        return delivered;
      });
      expect(await passes.pass(start, { sender })).toMatchObject({ due: 5, delivered: 5 });
      expect(underWay).toEqual([1, 1, 1, 1, 1]);
      expect(sender.sent).toEqual(['first credit', 'second credit', 'reject', 'chargeback', 'later']);
    });

    it('holds back what follows a failed event in its click until that is delivered or dead', async () => {
      const passes = await passesOver(
        outboxRow(1, { clickId: 'k' }),
        outboxRow(2, { clickId: 'k', kind: 'reject' }),
        outboxRow(3),
      );
      expect(await passes.pass(start, { sender: receiver((id) => (id === 'w1' ? refused : delivered)) })).toEqual({
        due: 3,
        delivered: 1,
        failed: 1,
        dead: 0,
        postponed: 1,
        remaining: 2,
      });
      const sender = receiver((id) => (id === 'w1' ? { ...refused, status: 410, error: 'gone' } : delivered));
      expect(await passes.pass(start + 5 * second, { sender })).toEqual({
        due: 2,
        delivered: 1,
        failed: 0,
        dead: 1,
        postponed: 0,
        remaining: 0,
      });
      expect(sender.sent).toEqual(['w1', 'w2']);
    });

    it('lets an event that arrives late go first, but not while another of its click is on the way', async () => {
      const passes = await passesOver(outboxRow(1, { clickId: 'k', kind: 'reject' }));
      const refresh = await passes.another();
      const sender = receiver(async (id) => {
        if (id === 'w1' && sender.sent.length === 1) {
          await refresh.importOutbox('warehouse', [
            outboxRow(2, { clickId: 'k', kind: 'credit' }),
            outboxRow(3, { clickId: 'k', kind: 'credit', conversionId: 'c9' }),
          ]);
          return refused;
        }
        return delivered;
      });
      expect(await passes.pass(start, { sender })).toMatchObject({ delivered: 2, failed: 1 });
      await passes.pass(start + 5 * second, { sender });
      expect(sender.sent).toEqual(['w1', 'w2', 'w3', 'w1']);
    });

    it('takes up at once what a killed pass had claimed, without counting an attempt', async () => {
      const passes = await passesOver(outboxRow(1, { clickId: 'k' }), outboxRow(2, { clickId: 'k', kind: 'reject' }));
      const killed = await passes.another();
      const pass = await killed.beginPass(start);
      await pass.takeSites(['s'], 1);
      await pass.apply({ finished: [], unsent: [], circuits: [], claims: [{ siteKey: 's', dueBy: start, limit: 10 }] });
      await killed.close();
      expect(await stateOf(passes, 'w1')).toMatchObject({ state: 'delivering', attempts: 0 });
      expect(await passes.store.abandonedClaims()).toEqual([{ siteKey: 's', claimed: 1 }]);
      const sender = receiver();
      expect(await passes.pass(start, { sender })).toMatchObject({ due: 2, delivered: 2 });
      expect(sender.sent).toEqual(['w1', 'w2']);
      expect(await stateOf(passes, 'w1')).toMatchObject({ state: 'delivered', attempts: 1 });
      expect(await passes.store.abandonedClaims()).toEqual([]);
    });

    it('keeps what is due to a site that is gone or has no address, saying so', async () => {
      const passes = await passesOver(
        outboxRow(1, { siteKey: 'gone' }),
        outboxRow(2, { siteKey: 'silent' }),
        outboxRow(3),
      );
      const silent = { ...siteWith('silent') };
      delete silent.postback;
      expect(await passes.pass(start, { sites: [siteWith('s'), silent] })).toEqual({
        due: 3,
        delivered: 1,
        failed: 0,
        dead: 0,
        postponed: 2,
        remaining: 2,
      });
      expect(
        passes.logged
          .filter((line) => line.includes('"warn"'))
          .map((line) => (JSON.parse(line) as { msg: string }).msg),
      ).toEqual([
        'site gone is not in sites.json any more: its postbacks wait until it has one',
        'site silent has no postback address now: its postbacks wait until it has one',
      ]);
      expect(await passes.pass(start, { sites: [siteWith('gone'), siteWith('silent')] })).toMatchObject({
        delivered: 2,
        remaining: 0,
      });
    });

    it('does the same with thousands, which a thread writes down', async () => {
      const rows = Array.from({ length: 3000 }, (_, index) =>
        outboxRow(index + 1, {
          clickId: `k${index % 1000}`,
          occurredAt: `2026-11-20T0${Math.floor(index / 1000)}:00:00Z`,
          siteKey: index % 2 === 0 ? 's' : 't',
        }),
      );
      const passes = await passesOver(...rows);
      const arrived: { click: string; number: number }[] = [];
      const sender = receiver((id, { url }) => {
        const number = Number(id.slice(1));
        arrived.push({ click: new URL(url).searchParams.get('click_id') ?? '', number });
        return number % 1000 === 7 ? refused : delivered;
      });
      // The first of a click that fails holds back its other two.
      expect(await passes.pass(start, { sender })).toEqual({
        due: 3000,
        delivered: 2997,
        failed: 1,
        dead: 0,
        postponed: 2,
        remaining: 3,
      });
      expect((await passes.store.changesSince(0)).attempts).toHaveLength(2998);
      const byClick = [...Map.groupBy(arrived, ({ click }) => click).values()].map((events) =>
        events.map(({ number }) => number),
      );
      expect(byClick).toHaveLength(1000);
      expect(byClick.filter((numbers) => numbers.some((number, index) => number <= (numbers[index - 1] ?? 0)))).toEqual(
        [],
      );
    });

    it('goes on after a postback of which no request can be made', async () => {
      const passes = await passesOver(outboxRow(1), outboxRow(2));
      const sender = receiver((id) => {
        if (id === 'w1') throw new Error('no request can be made');
        return delivered;
      });
      expect(await passes.pass(start, { sender })).toMatchObject({ delivered: 1, failed: 1 });
      expect(await stateOf(passes, 'w1')).toMatchObject({
        state: 'pending',
        lastStatus: null,
        lastError: 'unsendable',
      });
    });
  });

  describe('the plan of attempts', () => {
    it('waits as planned, ends dead after the tenth, and begins again when revived', async () => {
      const passes = await passesOver(outboxRow(1));
      const waits: number[] = [];
      const fail = async (now: number) => {
        const early = receiver();
        await passes.pass(now - 1, { sender: early });
        expect(early.sent).toEqual([]);
        await passes.pass(now, { sender: receiver(() => refused) });
      };
      let now = start;
      for (let attempt = 1; attempt < 10; attempt++) {
        if (attempt === 1) await passes.pass(now, { sender: receiver(() => refused) });
        else await fail(now);
        expect(await stateOf(passes, 'w1')).toMatchObject({ state: 'pending', attempts: attempt });
        waits.push((await nextOf(passes, 'w1')) - now);
        now = await nextOf(passes, 'w1');
      }
      expect(waits).toEqual([
        5 * second,
        5 * minute,
        30 * minute,
        2 * hour,
        5 * hour,
        10 * hour,
        14 * hour,
        20 * hour,
        24 * hour,
      ]);
      await fail(now);
      expect(await stateOf(passes, 'w1')).toEqual({
        state: 'dead',
        attempts: 10,
        lastStatus: 500,
        lastError: 'http_status',
        nextAttemptAt: null,
      });
      expect(await passes.store.revive({ site: 'another' }, now)).toBe(0);
      expect(await passes.store.revive({ site: 's' }, now)).toBe(1);
      await passes.pass(now, { sender: receiver(() => refused) });
      expect(await stateOf(passes, 'w1')).toMatchObject({ state: 'pending', attempts: 11 });
      expect((await nextOf(passes, 'w1')) - now).toBe(5 * second);
      expect((await passes.store.show('w1')).flatMap((shown) => shown.attempts).map(({ attempt }) => attempt)).toEqual([
        1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11,
      ]);
    });

    it('makes pending ones due at once where somebody says that the receiver is mended', async () => {
      const passes = await passesOver(outboxRow(1), outboxRow(2, { siteKey: 'another' }), outboxRow(3));
      expect(await passes.store.failingSites(start + 2 * hour)).toEqual([]);
      const sender = receiver((id) => (id === 'w2' ? delivered : refused));
      await passes.pass(start, { sender });
      const failingSince = Date.parse(outboxRow(1).enqueuedAt);
      const failing = { siteKey: 's', waiting: 2, failingSince, lastError: 'http_status', lastStatus: 500 };
      expect(await passes.store.failingSites(start + 2 * hour)).toEqual([{ ...failing, lastDeliveredAt: null }]);
      const mended = receiver();
      await passes.pass(start + second, { sender: mended });
      expect(mended.sent).toEqual([]);
      expect(await passes.store.revive({ site: 'third', state: 'pending' }, start + second)).toBe(0);
      expect(await passes.store.revive({ site: 's', state: 'pending' }, start + second)).toBe(2);
      expect(await passes.pass(start + second, { sender: mended })).toMatchObject({ delivered: 2 });
      expect(await passes.store.failingSites(start + 2 * hour)).toEqual([]);
    });

    it('knows when a failing site took its newest postback, however many it took before', async () => {
      const before = Array.from({ length: 1000 }, (_, index) => outboxRow(index + 1));
      const newest = { occurredAt: '2026-11-20T09:59:30Z' };
      const passes = await passesOver(...before, outboxRow(1001, newest), outboxRow(1002, newest));
      const refusing = (...ids: string[]) => receiver((id) => (ids.includes(id) ? refused : delivered));
      await passes.pass(start, { sender: refusing('w1001', 'w1002') });
      await passes.pass(start + hour, { sender: refusing('w1002') });
      const [failing, ...others] = await passes.store.failingSites(start + 2 * hour);
      expect([failing?.waiting, others]).toEqual([1, []]);
      expect(failing?.lastDeliveredAt).toBeGreaterThanOrEqual(start + hour);
    });

    it('names a site that takes nothing also after the clock was ahead for a while', async () => {
      const passes = await passesOver(outboxRow(1), outboxRow(2), outboxRow(3));
      await passes.pass(start, { sender: receiver((id) => (id === 'w1' ? delivered : refused)) });
      await passes.pass(start + 100 * hour, { sender: receiver((id) => (id === 'w2' ? delivered : refused)) });
      const now = start + 2 * hour;
      const [silent] = await readSilentSites(passes.store, now);
      expect(silent).toMatchObject({ site_key: 's', silent_seconds: 2 * 3600, waiting: 1 });

      await passes.store.importOutbox('another', [
        outboxRow(4, { siteKey: 't', enqueuedAt: '2026-11-24T14:00:00Z' }),
        outboxRow(5, { siteKey: 't', enqueuedAt: '2026-11-20T10:00:00Z' }),
      ]);
      await passes.pass(start, { sender: receiver((id) => (id === 'w5' ? delivered : refused)) });
      const [, other] = await readSilentSites(passes.store, now);
      expect(other).toMatchObject({ site_key: 't', silent_seconds: 2 * 3600, waiting: 1 });
    });

    it.each([
      ['a fifth sooner at most', 0, null, 4 * second],
      ['a fifth later at most', 0.999999, null, 6 * second],
      ['not sooner because the receiver says so', 0.5, 1, 5 * second],
      ['as long as the receiver asks', 0.5, 8, 8 * second],
      ['no longer than two steps for a receiver', 0.5, 86_400, 10 * second],
    ])('tries again %s', async (_what, random, retryAfter, wait) => {
      const passes = await passesOver(outboxRow(1));
      await passes.pass(start, {
        sender: receiver(() => ({ ...refused, status: 429, retryAfterSeconds: retryAfter })),
        random: () => random,
      });
      expect((await nextOf(passes, 'w1')) - start).toBe(wait);
    });

    it('is at its end at once with 410', async () => {
      const passes = await passesOver(outboxRow(1));
      expect(
        await passes.pass(start, { sender: receiver(() => ({ ...refused, status: 410, error: 'gone' })) }),
      ).toMatchObject({ dead: 1, remaining: 0 });
    });
  });

  describe('a clock that is moved between passes', () => {
    it.each([0, 1, 2, 3, 4, 5, 6, 7, 8])(
      'back by two hours after %i further attempts loses nothing and sends nothing early',
      async (further) => {
        const passes = await passesOver(outboxRow(1));
        let now = start;
        await passes.pass(now, { sender: receiver(() => refused) });
        for (let attempt = 0; attempt < further; attempt++) {
          now = await nextOf(passes, 'w1');
          await passes.pass(now, { sender: receiver(() => refused) });
        }
        const step = (await nextOf(passes, 'w1')) - now;
        const moved = now - 2 * hour;
        const sender = receiver();
        expect(await passes.pass(moved + step - 1, { sender })).toMatchObject({ delivered: 0 });
        // By the moved clock no more than two steps pass, or the two hours that it was moved by.
        expect(await passes.pass(moved + step + Math.max(step, 2 * hour), { sender })).toMatchObject({
          delivered: 1,
          remaining: 0,
        });
      },
    );

    it('back by two hours lets what was never tried go at once', async () => {
      const passes = await passesOver(outboxRow(1));
      expect(await passes.pass(start - 2 * hour)).toMatchObject({ delivered: 1 });
    });

    it('forward by two hours sends early by less than the step', async () => {
      const passes = await passesOver(outboxRow(1), outboxRow(2));
      for (const now of [start, start + 5 * second, start + 6 * minute, start + 40 * minute])
        await passes.pass(now, { sender: receiver(() => refused) });
      const due = await nextOf(passes, 'w1');
      const sender = receiver();
      await passes.pass(start + 40 * minute + 1 + 2 * hour - minute, { sender });
      expect([sender.sent, await nextOf(passes, 'w1')]).toEqual([[], due]);
      expect(await passes.pass(start + 40 * minute + 1 + 2 * hour, { sender })).toMatchObject({
        delivered: 2,
        remaining: 0,
      });
    });

    it.each([
      ['never tried', 0],
      ['tried once', 1],
      ['tried five times', 5],
    ])('back by two days is seen before a pass, with a postback %s, and not after it', async (_how, attempts) => {
      const passes = await passesOver(outboxRow(1), outboxRow(2, { clickId: 'k1', conversionId: 'later' }));
      let now = start;
      for (let attempt = 0; attempt < attempts; attempt++) {
        await passes.pass(now, { sender: receiver(() => refused) });
        now = await nextOf(passes, 'w1');
      }
      expect(await passes.store.waitsTooLong(attempts === 0 ? now : now - second)).toBe(false);
      const moved = now - 48 * hour;
      expect(await passes.store.waitsTooLong(moved)).toBe(true);
      const pass = await passes.store.beginPass(moved);
      await pass.end();
      expect(await passes.store.waitsTooLong(moved)).toBe(false);
    });

    it('leaves no site alone for longer than its pause', async () => {
      const passes = await passesOver(...Array.from({ length: 20 }, (_, index) => outboxRow(index + 1)));
      await passes.pass(start, { sender: receiver(() => unreachable) });
      expect(await passes.pass(start - 2 * hour)).toMatchObject({ delivered: 12 });
    });
  });

  describe('a site that does not answer', () => {
    it('is left alone after some failures, then probed with one, then served again', async () => {
      const passes = await passesOver(...Array.from({ length: 100 }, (_, index) => outboxRow(index + 1)));
      const hanging = receiver(() => unreachable);
      const first = await passes.pass(start, { sender: hanging });
      expect(first).toMatchObject({ due: 100, delivered: 0, dead: 0, remaining: 100 });
      expect(hanging.sent.length).toBeLessThanOrEqual(8);
      expect(first.postponed).toBe(100 - hanging.sent.length);
      expect(await stateOf(passes, 'w100')).toMatchObject({ state: 'pending', attempts: 0 });
      const tooEarly = receiver();
      expect(await passes.pass(start + 30 * second, { sender: tooEarly })).toMatchObject({ delivered: 0 });
      expect(tooEarly.sent).toEqual([]);
      const probed = receiver(() => unreachable);
      await passes.pass(start + minute, { sender: probed });
      expect(probed.sent).toHaveLength(1);
      expect(await passes.pass(start + 2 * minute)).toMatchObject({ delivered: 0 });
      // The pause has doubled; the probe that succeeds opens the way for all others in the same pass.
      expect(await passes.pass(start + 2 * hour)).toMatchObject({ delivered: 100, remaining: 0 });
    });

    it('is not left alone for what it answers', async () => {
      const passes = await passesOver(...Array.from({ length: 100 }, (_, index) => outboxRow(index + 1)));
      expect(await passes.pass(start, { sender: receiver(() => refused) })).toMatchObject({
        failed: 100,
        postponed: 0,
      });
    });

    it('delays no other site, one at the same host neither', async () => {
      const rows = Array.from({ length: 300 }, (_, index) =>
        outboxRow(index + 1, { siteKey: index % 2 === 0 ? 's' : 't' }),
      );
      const passes = await passesOver(...rows);
      const hanging = Promise.withResolvers<Outcome>();
      let others = 0;
      const sender = receiver((_id, { url }) => {
        if (url.includes('/hanging')) return hanging.promise;
        others += 1;
        // All others are through while not one of these has ended.
        if (others === 150) hanging.resolve(unreachable);
        return delivered;
      });
      const sites = [siteWith('s', 'https://shared.example/hanging'), siteWith('t', 'https://shared.example/well')];
      expect(await passes.pass(start, { sender, sites })).toMatchObject({ delivered: 150, failed: 8, postponed: 142 });
    });

    it('holds up no number of others', async () => {
      const keys = Array.from({ length: 600 }, (_, index) => `site${index}`);
      const passes = await passesOver(...keys.map((siteKey, index) => outboxRow(index + 1, { siteKey })));
      expect(await passes.pass(start, { sites: keys.map((key) => siteWith(key)) })).toMatchObject({
        due: 600,
        delivered: 600,
      });
    });

    it('and one that is slow end a pass when its time is up', async () => {
      const passes = await passesOver(...Array.from({ length: 50 }, (_, index) => outboxRow(index + 1)));
      const sender = receiver();
      const summary = await passes.pass(start, { sender, patienceMilliseconds: -1 });
      expect(summary.delivered).toBeLessThan(50);
      expect(summary).toMatchObject({ postponed: 50 - summary.delivered, remaining: 50 - summary.delivered });
    });
  });
}
