import fc from 'fast-check';
import type { Click, ConversionEvent, ExportedOffer, Landing, Micros, Millionths } from './facts.ts';

export const source = 'alpha';

const hour = 3_600_000_000n;
const day = 24n * hour;
/** 2026-03-10T00:00:00Z. */
const midnight: Micros = 1_773_100_800_000_000n;

/** Moments at which windows, hours or days begin and end, and any other. */
const lastAsOf: fc.Arbitrary<Micros> = fc.oneof(
  fc.constantFrom(midnight, midnight + day - 1n, midnight + 13n * hour, midnight + 13n * hour - 1n),
  fc.bigInt({ min: midnight, max: midnight + day - 1n }),
);

/** Runs up to three, mostly two or three, as-of never going back; two with the same as-of among them. */
const asOfs: fc.Arbitrary<Micros[]> = lastAsOf.chain((last) =>
  fc
    .constantFrom(1, 2, 0, 1, 2)
    .chain((count) =>
      fc.array(fc.constantFrom(0n, 20n * hour, 1n, hour, day, 30n * hour), { minLength: count, maxLength: count }),
    )
    .map((earlier) => [...earlier.map((back) => last - back), last].toSorted((a, b) => (a < b ? -1 : 1))),
);

/** A moment at, or one microsecond off, any edge that a definition has, or anywhere around. */
function momentNear(runs: readonly Micros[]): fc.Arbitrary<Micros> {
  const edges = [
    ...new Set(
      runs.flatMap((asOf) => {
        const today = (asOf / day) * day;
        return [asOf, asOf - day, asOf - 2n * day, today, today - day, (asOf / hour) * hour];
      }),
    ),
  ];
  const last = runs.at(-1) ?? midnight;
  return fc.oneof(
    {
      weight: 3,
      arbitrary: fc
        .tuple(fc.constantFrom(...runs, ...edges), fc.constantFrom(-1n, 0n, 0n, 1n))
        .map(([edge, off]) => edge + off),
    },
    { weight: 3, arbitrary: fc.bigInt({ min: last - 2n * day, max: last }) },
    { weight: 1, arbitrary: fc.bigInt({ min: last - 3n * day, max: last + 20n * hour }) },
  );
}

/** Amounts that often tie, and ones whose quotients need rounding. */
const amount: fc.Arbitrary<Millionths> = fc.constantFrom(
  0n,
  1n,
  500_000n,
  1_000_000n,
  2_500_000n,
  333_333n,
  999_999_999_999_999n,
);

const offerNumbers = [1, 2, 3, 4];
const exportedOffer = (number: number): fc.Arbitrary<ExportedOffer> =>
  fc.record({
    offerId: fc.constant(number),
    source: fc.constant(source),
    externalId: fc.constant(`offer-${number}`),
    status: fc.constantFrom('active', 'active', 'active', 'paused'),
    payout: amount,
    milestones: fc
      .constantFrom([], [], ['install'], ['install', 'level'])
      .chain((names) =>
        fc
          .tuple(...names.map((name) => amount.map((payout) => [name, payout] as const)))
          .map((pairs) => new Map(pairs)),
      ),
  });

const catalog: fc.Arbitrary<ExportedOffer[]> = fc
  .subarray(offerNumbers, { minLength: 2 })
  .chain((numbers) => fc.tuple(...numbers.map(exportedOffer)));

/** Among them an id and a name that no catalog ever has. */
const namedOffer: fc.Arbitrary<Click['offer']> = fc.constantFrom<Click['offer'][]>(
  ...offerNumbers.flatMap((id) => [{ id }, { source, externalId: `offer-${id}` }]),
  { id: 99 },
  { source, externalId: 'never' },
  { source: 'other', externalId: 'offer-1' },
);

interface Dated<Fact> {
  run: number;
  fact: Fact;
}

function clicks(runs: readonly Micros[]): fc.Arbitrary<Dated<Click>[]> {
  const click = fc.record({ run: anyOf(runs.length), offer: namedOffer, clickedAt: momentNear(runs) });
  return fc.array(click, { minLength: 2, maxLength: 30, size: 'max' }).map((made) =>
    made.map(({ run, offer, clickedAt }, index) => ({
      run,
      fact: { clickId: `click-${index}`, offer, clickedAt, siteKey: `site-${index % 2}`, userId: `user-${index}` },
    })),
  );
}

/**
 * Conversions with any of their four events in any order of time and of arrival; some of the same click, some of one
 * that never comes.
 */
function events(runs: readonly Micros[], clickCount: number): fc.Arbitrary<Dated<ConversionEvent>[]> {
  const moment = fc.record({
    run: anyOf(runs.length),
    occurredAt: momentNear(runs),
    payout: fc.option(amount, { freq: 1 }),
  });
  const conversion = fc.record({
    click: anyOf(clickCount + 1),
    eventId: fc.constantFrom(null, null, null, 'install', 'install', 'level', 'unheard-of'),
    pending: seldom(moment),
    credit: fc.option(moment, { freq: 4 }),
    reject: seldom(moment),
    chargeback: seldom(moment),
  });
  return fc.array(conversion, { minLength: 1, maxLength: 24, size: 'max' }).map((made) =>
    made.flatMap(({ click, eventId, ...kinds }, index) =>
      (['pending', 'credit', 'reject', 'chargeback'] as const).flatMap((kind) => {
        const happened = kinds[kind];
        if (happened === null) return [];
        const { run, occurredAt, payout } = happened;
        return [
          {
            run,
            fact: { conversionId: `conversion-${index}`, clickId: `click-${click}`, kind, occurredAt, eventId, payout },
          },
        ];
      }),
    ),
  );
}

/** A number below `count`, each as likely: fast-check would rather take the first and the last. */
function anyOf(count: number): fc.Arbitrary<number> {
  return fc.noBias(fc.nat({ max: count - 1 }));
}

function seldom<T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> {
  return fc.oneof({ weight: 2, arbitrary: fc.constant(null) }, { weight: 1, arbitrary });
}

/** Landings of one to three runs: small, but mostly near the edges of the definitions. */
export const arbitraryLandings: fc.Arbitrary<Landing[]> = asOfs.chain((runs) =>
  clicks(runs).chain((allClicks) =>
    fc
      .tuple(events(runs, allClicks.length), fc.tuple(...runs.map(() => fc.option(catalog, { freq: 2 }))), catalog)
      .map(([allEvents, catalogs, known]) =>
        runs.map((asOf, run) => ({
          asOf,
          // By the last run some offers are known, or there would be no figures.
          catalog: catalogs[run] ?? (run === runs.length - 1 && catalogs.every((each) => each === null) ? known : null),
          clicks: allClicks.filter((each) => each.run === run).map(({ fact }) => fact),
          events: allEvents.filter((each) => each.run === run).map(({ fact }) => fact),
        })),
      ),
  ),
);
