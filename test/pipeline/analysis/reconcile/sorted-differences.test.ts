import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  sortDifferences,
  type DifferenceKind,
  type Scope,
  type Sorted,
} from '../../../../src/pipeline/analysis/reconcile/differences.ts';
import { match } from '../../../../src/pipeline/analysis/reconcile/match.ts';
import type { ClaimedClick, OurConversion } from '../../../../src/pipeline/analysis/reconcile/our-conversions.ts';
import type { PublisherReward } from '../../../../src/pipeline/analysis/reconcile/publisher-file.ts';

const site = 'site-1';
const point = 1_000_000_000n;
const everything: Scope = { from: null, to: null, tolerance: 0n, asOf: '2026-03-10T12:00:00Z' };
const march = (day: number, time = '10:00:00') => `2026-03-${String(day).padStart(2, '0')}T${time}Z`;

function conversion(own: Partial<OurConversion>): OurConversion {
  return {
    conversionId: 'v1',
    clickId: 'c1',
    offerId: 1,
    status: 'credited',
    amount: 5n * point,
    time: march(5),
    reversedAt: null,
    postback: null,
    ...own,
  };
}

function reward(own: Partial<PublisherReward>): PublisherReward {
  return { line: 2, clickId: 'c1', amount: 5n * point, state: 'credited', ...own };
}

const clicks = new Map<string, ClaimedClick>([
  ['c1', { clickId: 'c1', siteKey: site, clickedAt: march(4) }],
  ['other', { clickId: 'other', siteKey: 'site-2', clickedAt: march(4) }],
  ['waiting', { clickId: 'waiting', siteKey: null, clickedAt: null }],
]);

function sorted(rewards: PublisherReward[], conversions: OurConversion[], scope: Partial<Scope> = {}): Sorted {
  return sortDifferences(match(rewards, conversions), clicks, site, { ...everything, ...scope });
}

function kinds(...arguments_: Parameters<typeof sorted>): [DifferenceKind, string][] {
  return sorted(...arguments_).differences.map(({ difference, detail }) => [difference, detail]);
}

const delivered = (deliveredAt: string) => ({ state: 'delivered', deliveredAt, lastError: null });

describe('a difference is sorted as', () => {
  it.each<[string, PublisherReward[], OurConversion[], Partial<Scope>, [DifferenceKind, string | RegExp][]]>([
    [
      'missing there, where the postback arrived',
      [],
      [conversion({ postback: delivered(march(6)) })],
      {},
      [['missing_there', `its postback was delivered at ${march(6)}`]],
    ],
    [
      'missing there, where the postback is dead',
      [],
      [conversion({ postback: { state: 'dead', deliveredAt: null, lastError: 'status_500' } })],
      {},
      [['missing_there', 'its postback is dead: status_500']],
    ],
    ['missing there, where none is sent', [], [conversion({})], {}, [['missing_there', 'no postback was to be sent']]],
    ['missing here', [reward({})], [], {}, [['missing_here', `the click of ${march(4)} has no further conversion`]]],
    ['amount', [reward({ amount: 6n * point })], [conversion({})], {}, [['amount', '1 more there than here']]],
    ['amount, within the tolerance none', [reward({ amount: 6n * point })], [conversion({})], { tolerance: point }, []],
    [
      'state, refused here',
      [reward({})],
      [conversion({ status: 'rejected', reversedAt: march(7) })],
      {},
      [['state', `credited there, rejected here since ${march(7)}`]],
    ],
    [
      'state, refused there',
      [reward({ state: 'charged_back' })],
      [conversion({})],
      {},
      [['state', 'charged_back there, credited here']],
    ],
    [
      'state, undecided there',
      [reward({ state: 'pending' })],
      [conversion({})],
      {},
      [['state', 'pending there, credited here']],
    ],
    [
      'state, unattributed here',
      [reward({})],
      [conversion({ status: 'unattributed' })],
      {},
      [['state', 'its offer or milestone is unknown here']],
    ],
    [
      'none, where nobody owes anything',
      [reward({ state: 'rejected' })],
      [conversion({ status: 'charged_back' })],
      {},
      [],
    ],
    ['none, where they refused what never was', [reward({ state: 'rejected', clickId: 'nobody' })], [], {}, []],
    [
      'duplicate by conversion id',
      [reward({ conversionId: 'v1' }), reward({ conversionId: 'v1', line: 3 })],
      [conversion({})],
      {},
      [['duplicate', 'listed there before']],
    ],
    [
      'duplicate by click',
      [reward({}), reward({ line: 3 })],
      [conversion({})],
      {},
      [['duplicate', 'listed there before']],
    ],
    [
      'duplicate, beside a refused milestone',
      [reward({}), reward({ line: 3 })],
      [conversion({}), conversion({ conversionId: 'v2', status: 'rejected', amount: 2n * point })],
      {},
      [['duplicate', 'listed there before']],
    ],
    [
      'none, where a reward is booked and taken back',
      [reward({}), reward({ line: 3, state: 'charged_back' })],
      [conversion({ status: 'charged_back' })],
      {},
      [],
    ],
    [
      'none, where it is taken back first',
      [reward({ state: 'charged_back' }), reward({ line: 3 })],
      [conversion({ status: 'charged_back' })],
      {},
      [],
    ],
    [
      'state, where it is taken back first, after the period',
      [
        reward({ conversionId: 'v1', state: 'charged_back', time: march(9) }),
        reward({ conversionId: 'v1', line: 3, time: march(5) }),
      ],
      [conversion({})],
      { to: '2026-03-05' },
      [['state', 'charged_back there, credited here']],
    ],
    [
      'none, where it is announced at no amount before it is credited',
      [
        reward({ conversionId: 'v1', state: 'pending', amount: 0n, time: march(1) }),
        reward({ conversionId: 'v1', line: 3, time: march(5) }),
      ],
      [conversion({})],
      { from: '2026-03-03' },
      [],
    ],
    [
      'none, where they number conversions in their own way',
      [reward({ conversionId: 'their-1' }), reward({ conversionId: 'their-2', amount: point, line: 3 })],
      [conversion({}), conversion({ conversionId: 'v2', amount: point })],
      {},
      [],
    ],
    [
      'late, in their period only',
      [reward({ time: march(31, '23:59:00') })],
      [conversion({ time: '2026-04-01T00:00:01Z' })],
      { to: '2026-03-31' },
      [['late', 'in the period there, outside of it here']],
    ],
    [
      'late, in our period only',
      [reward({ time: march(6) })],
      [conversion({ time: march(5) })],
      { to: '2026-03-05' },
      [['late', 'in the period here, outside of it there']],
    ],
    [
      'late, on its way',
      [],
      [conversion({ postback: { state: 'pending', deliveredAt: null, lastError: 'timeout' } })],
      {},
      [['late', 'its postback is pending: timeout']],
    ],
    [
      'late, delivered after the period',
      [],
      [conversion({ postback: delivered('2026-04-01T01:00:00Z') })],
      { to: '2026-03-31' },
      [['late', 'its postback was delivered at 2026-04-01T01:00:00Z, after the period']],
    ],
    [
      'late, after the snapshot',
      [reward({ clickId: 'new', time: march(11) })],
      [],
      {},
      [['late', `later than the snapshot, which is as of ${everything.asOf}`]],
    ],
    ['unknown click', [reward({ clickId: 'nobody' })], [], {}, [['unknown_click', 'no such click was ingested']]],
    [
      "unknown click, another site's",
      [reward({ clickId: 'other' })],
      [],
      {},
      [['unknown_click', "the click is another site's"]],
    ],
    [
      'unknown click, not yet',
      [reward({ clickId: 'waiting' })],
      [],
      {},
      [['unknown_click', 'a conversion came, and waits for this click']],
    ],
    [
      'none, outside of the period',
      [reward({ time: march(1) }), reward({ clickId: 'nobody', time: march(1) })],
      [conversion({ time: march(1) }), conversion({ conversionId: 'v2', clickId: 'c2', time: march(2) })],
      { from: '2026-03-03' },
      [],
    ],
  ])('%s', (_, rewards, conversions, scope, expected) => {
    expect(kinds(rewards, conversions, scope)).toEqual(expected);
  });
});

/** Conversions of a few clicks, several of some, no two of a click with the same amount. */
const arbitraryConversions = fc
  .uniqueArray(
    fc.record({
      click: fc.integer({ min: 1, max: 4 }),
      amount: fc.integer({ min: 1, max: 5 }),
      status: fc.constantFrom<OurConversion['status'][]>('credited', 'rejected', 'charged_back'),
    }),
    {
      selector: ({ click, amount }) => `${click} ${amount}`,
      maxLength: 12,
    },
  )
  .map((rows) =>
    rows.map(({ click, amount, status }, index): OurConversion =>
      conversion({ conversionId: `v${index}`, clickId: `c${click}`, amount: BigInt(amount) * point, status }),
    ),
  );

/** List of a publisher who agrees with everything that is due; rows name conversions in several ways. */
const arbitraryAgreement = fc
  .tuple(arbitraryConversions, fc.constantFrom('our ids', 'own ids', 'no ids'), fc.integer())
  .map(([conversions, ids, seed]) => {
    const rewards = conversions
      .filter(({ status }) => status === 'credited')
      .map(({ conversionId, clickId, amount }, index): PublisherReward =>
        reward({
          line: index + 2,
          clickId,
          ...(amount === undefined ? {} : { amount }),
          ...(ids === 'no ids' ? {} : { conversionId: ids === 'our ids' ? conversionId : `theirs-${index}` }),
        }),
      );
    const shuffled = rewards.toSorted(
      (one, other) => ((one.line * 7919 + seed) % 31) - ((other.line * 7919 + seed) % 31),
    );
    return { conversions, rewards: shuffled };
  });

const due = (sums: Sorted) =>
  sums.differences.reduce(
    (total, each) => ({ there: total.there + each.due.there, here: total.here + each.due.here }),
    { there: sums.agreed.there, here: sums.agreed.here },
  );

describe('for any conversions', () => {
  it('a list of what is due, in any order and under any ids, has no difference', () => {
    fc.assert(
      fc.property(arbitraryAgreement, ({ conversions, rewards }) => {
        const { differences, agreed } = sorted(rewards, conversions);
        expect(differences).toEqual([]);
        expect(agreed.count).toBe(rewards.length);
      }),
      { seed: 1, numRuns: 300 },
    );
  });

  it('the rows of a conversion come to the same in any order', () => {
    const arbitraryRows = fc
      .uniqueArray(
        fc.record({
          state: fc.constantFrom<PublisherReward['state'][]>('pending', 'credited', 'rejected', 'charged_back'),
          amount: fc.integer({ min: 0, max: 6 }),
          day: fc.integer({ min: 3, max: 7 }),
        }),
        { selector: ({ state }) => state, minLength: 1 },
      )
      .map((rows) =>
        rows.map(({ state, amount, day }, index) =>
          reward({ line: index + 2, conversionId: 'v1', state, amount: BigInt(amount) * point, time: march(day) }),
        ),
      );
    const status = fc.constantFrom<OurConversion['status'][]>('pending', 'credited', 'rejected', 'charged_back');
    fc.assert(
      fc.property(
        arbitraryRows.chain((rows) =>
          fc.tuple(fc.constant(rows), fc.shuffledSubarray(rows, { minLength: rows.length })),
        ),
        status,
        ([rows, shuffled], ofOurs) => {
          const ours = [conversion({ status: ofOurs })];
          const scope = { from: '2026-03-04', to: '2026-03-06' };
          expect(sorted(shuffled, ours, scope)).toEqual(sorted(rows, ours, scope));
        },
      ),
      { seed: 4, numRuns: 500 },
    );
  });

  it('one mistake in it is one difference, of its kind', () => {
    const mistakes: Record<string, (row: PublisherReward) => PublisherReward[]> = {
      missing_there: () => [],
      amount: (row) => [{ ...row, amount: 99n * point }],
      state: (row) => [{ ...row, state: 'rejected' }],
      duplicate: (row) => [row, { ...row, line: row.line + 100 }],
      unknown_click: (row) => [row, { ...row, clickId: 'nobody', line: row.line + 100 }],
    };
    fc.assert(
      fc.property(
        arbitraryAgreement.filter(({ rewards }) => rewards.length > 0),
        fc.constantFrom(...Object.keys(mistakes)),
        ({ conversions, rewards: [first, ...rest] }, kind) => {
          if (first === undefined) return;
          const rows = [...(mistakes[kind]?.(first) ?? []), ...rest];
          expect(sorted(rows, conversions).differences.map(({ difference }) => difference)).toEqual([kind]);
        },
      ),
      { seed: 2, numRuns: 300 },
    );
  });

  it('what both sides count as due adds up, whatever the list says', () => {
    const arbitraryReward = fc
      .record({
        click: fc.integer({ min: 1, max: 5 }),
        amount: fc.integer({ min: 0, max: 6 }),
        id: fc.option(fc.integer({ min: 0, max: 12 }), { nil: undefined }),
      })
      .map(({ click, amount, id }) =>
        reward({
          clickId: `c${click}`,
          amount: BigInt(amount) * point,
          ...(id === undefined ? {} : { conversionId: `v${id}` }),
        }),
      );
    fc.assert(
      fc.property(arbitraryConversions, fc.array(arbitraryReward, { maxLength: 15 }), (conversions, rewards) => {
        const sums = due(sorted(rewards, conversions));
        expect(sums.there).toBe(rewards.reduce((total, { amount }) => total + (amount ?? 0n), 0n));
        expect(sums.here).toBe(
          conversions.reduce((total, { status, amount }) => total + (status === 'credited' ? (amount ?? 0n) : 0n), 0n),
        );
      }),
      { seed: 3, numRuns: 500 },
    );
  });
});
