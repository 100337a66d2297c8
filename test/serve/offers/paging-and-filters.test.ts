import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { FeedOffer } from '../../../src/pipeline/feed/feed-document.ts';
import { feedOffer, makeCurrent, temporaryData, writeSites, writeSnapshot } from '../../support/published-snapshot.ts';
import { startService } from '../../support/running-service.ts';
import type { RunningService } from '../../support/running-service.ts';

const countries = ['DE', 'FR', 'US'];
const devices = ['android', 'ios', 'desktop'] as const;
const categories = ['Games', 'games', 'Surveys', 'Sport & Spiel'];
const days = ['2026-11-17', '2026-11-18', '2026-11-19'];

/** A catalog whose every offer combines the properties differently, some gone. */
const catalog: FeedOffer[] = Array.from({ length: 120 }, (_, place) => {
  const bit = (number: number) => (place >> number) % 2 === 1;
  const status = place % 11 === 5 ? 'paused' : place % 13 === 7 ? 'vanished' : 'active';
  const changed = `${days[place % 3]}T0${place % 7}:00:00Z`;
  return feedOffer({
    id: 1000 + place * 3,
    status,
    removed_at: status === 'active' ? null : changed,
    payout: String(((place * 7) % 40) / 8),
    countries: countries.filter((_name, number) => bit(number)),
    devices: devices.filter((_name, number) => bit(number + 2)),
    categories: categories.filter((_name, number) => (place * 5) % (number + 2) === 0),
    events: place % 4 === 0 ? [{ event_id: 'e', descriptions: {}, payout: '1' }] : [],
    updated_at: changed,
  });
});

let running: RunningService;
let remove: () => Promise<void>;
const path = '/c/api/v1/offers?site_key=s&site_secret=a-long-enough-secret';

beforeAll(async () => {
  const temporary = await temporaryData();
  remove = temporary.remove;
  await writeSites(temporary.data, [
    { site_key: 's', site_secret: 'a-long-enough-secret', rate_limit_per_hour: 1_000_000 },
  ]);
  await writeSnapshot(temporary.data, 'one', {
    offers: catalog,
    sites: [{ site_key: 's', commission: '0.5', commission_changed_at: null }],
  });
  await makeCurrent(temporary.data, 'one');
  running = await startService(temporary.data);
});

afterAll(async () => {
  await running.service.close();
  await remove();
});

interface Filters {
  type?: string | undefined;
  country?: string | undefined;
  device?: string | undefined;
  category?: string | undefined;
  min_payout?: string | undefined;
  updated_since?: string | undefined;
}

const maybe = <Value>(values: readonly Value[]) => fc.option(fc.constantFrom(...values), { nil: undefined });
const anyFilters: fc.Arbitrary<Filters> = fc.record({
  type: maybe(['offer', 'multireward']),
  country: maybe(['DE', 'fr', 'Us', 'JP']),
  device: maybe(devices),
  category: maybe(['games', 'SURVEYS', 'sport & spiel', 'none']),
  min_payout: maybe(['0', '0.5', '1.24999', '1.25', '99']),
  updated_since: maybe(['2026-11-17', '2026-11-18T03:00:00Z', '2026-11-19T06:00:00+02:00', '2026-12-01']),
});

/** The catalog read as the interface describes it, in plain words of another making. */
function expected(filters: Filters): number[] {
  return catalog
    .filter((offer) => offer.status === 'active')
    .filter((offer) => offer.events.length > 0 === (filters.type === 'multireward'))
    .filter(
      (offer) =>
        filters.country === undefined ||
        offer.countries.length === 0 ||
        offer.countries.includes(filters.country.toUpperCase()),
    )
    .filter(
      (offer) =>
        filters.device === undefined ||
        offer.devices.length === 0 ||
        offer.devices.some((device) => device === filters.device),
    )
    .filter(
      (offer) =>
        filters.category === undefined ||
        offer.categories.some((category) => category.toLowerCase() === filters.category?.toLowerCase()),
    )
    .filter((offer) => filters.min_payout === undefined || Number(offer.payout) / 2 >= Number(filters.min_payout))
    .filter(
      (offer) =>
        filters.updated_since === undefined || Date.parse(offer.updated_at) > Date.parse(filters.updated_since),
    )
    .map(({ id }) => id);
}

function queryOf(parameters: object): string {
  return Object.entries(parameters)
    .map(([name, value]) => (value === undefined ? '' : `&${name}=${encodeURIComponent(String(value))}`))
    .join('');
}

test('paging through any filter gives each matching offer once, in order, with the right total and has_more', async () => {
  await fc.assert(
    fc.asyncProperty(anyFilters, fc.integer({ min: 1, max: 60 }), async (filters, limit) => {
      const ids = expected(filters);
      const seen: number[] = [];
      for (let offset = 0, more = true; more; offset += limit) {
        const page = await running.json(`${path}${queryOf({ ...filters, limit, offset })}`);
        expect(page).toMatchObject({ total: ids.length, offset, limit });
        seen.push(...page.offers.map(({ id }: { id: number }) => id));
        expect(page.has_more).toBe(seen.length < ids.length);
        more = page.has_more;
      }
      expect(seen).toEqual(ids);
    }),
    { numRuns: 60 },
  );
});

test('Variant B pages the same catalog', async () => {
  await fc.assert(
    fc.asyncProperty(
      maybe(['offer', 'multireward']),
      fc.integer({ min: 1, max: 200 }),
      fc.integer({ min: 0, max: 200 }),
      async (type, take, skip) => {
        const both = [...expected({ type: 'offer' }), ...expected({ type: 'multireward' })].toSorted(
          (one, other) => one - other,
        );
        const ids = type === undefined ? both : expected({ type });
        const { offers } = await running.json(`${path.replace('/c/', '/b/')}${queryOf({ type, take, skip })}`);
        expect(offers.data.map(({ id }: { id: number }) => id)).toEqual(ids.slice(skip, skip + take));
      },
    ),
    { numRuns: 60 },
  );
});
