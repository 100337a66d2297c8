import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { GeneratedOffer } from '../../../src/demo/generate/network/canonical-records.ts';
import { catalogOffers } from '../../../src/demo/generate/network/catalog.ts';
import { generate } from '../../../src/demo/generate/generate.ts';
import { networkSettings, partnerZone } from '../../../src/demo/generate/network/network.ts';
import { convertMoney, moneyText, parseMoney, sumMoney } from '../../../src/kit/text/decimal-text.ts';
import { parseOfferRecord, type OfferReadingResult } from '../../../src/pipeline/landing/catalog/offer-record.ts';
import { readLanding } from './read-landing.ts';

const end = new Date('2026-03-04T13:37:00Z');
const offers = 80;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'offerline-catalog-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** What the pipeline's reader makes of every record of every export, by path. */
async function readCatalogs(name: string, messy: boolean): Promise<Map<string, OfferReadingResult[]>> {
  const out = join(folder, name);
  await generate({ out, seed: 5, clicks: 10, days: 1, end, offers, messy });
  const { catalogs } = await readLanding(out, end, partnerZone.name);
  return new Map(
    [...catalogs].map(([path, records]) => [
      path,
      records.map((raw) =>
        parseOfferRecord(raw, {
          currencyRates: networkSettings.rates,
          timeZone: path.includes('clickfield') ? partnerZone.name : undefined,
          textCells: /csv$|parquet$/.test(path),
          wallClock: end,
        }),
      ),
    ]),
  );
}

/** Gross USD of an offer as it was meant. */
function usd(offer: GeneratedOffer): string {
  const rates: Record<string, string> = { USD: '1', ...networkSettings.rates };
  const amounts = (offer.payout === undefined ? (offer.events ?? []).map(({ payout }) => payout) : [offer.payout]).map(
    (payout) => convertMoney(parseMoney(payout) ?? -1n, rates[offer.currency] ?? ''),
  );
  return moneyText(sumMoney(amounts.map((amount) => amount ?? -1n)) ?? -1n);
}

describe('the exports of a clean network', () => {
  it('mean, in the words and formats of their sources, what the catalog says', async () => {
    const read = await readCatalogs('clean', false);
    const byId = new Map(
      [...read.values()].flat().map((result) => {
        if (!('offer' in result)) throw new Error(`refused: ${result.reject}`);
        expect(result.warnings).toEqual([]);
        return [result.offer.external_id, result.offer] as const;
      }),
    );
    const expected = catalogOffers(5, offers, end.getTime());
    expect(byId.size).toBe(offers);
    for (const offer of expected) {
      const texts = (text: GeneratedOffer['title']) => (typeof text === 'string' ? { en: text } : text);
      expect(byId.get(offer.external_id)).toMatchObject({
        id: offer.id ?? null,
        titles: texts(offer.title),
        descriptions: texts(offer.description),
        payout: usd(offer),
        status: offer.status,
        countries: offer.countries.toSorted(),
        devices: offer.devices,
        categories: offer.categories,
        tracking_type: offer.tracking_type,
        report_category: offer.report_category,
        payment_term: offer.payment_term,
        stars: offer.stars,
        level: offer.level,
        multi_complete: offer.multi_complete,
        daily_cap: offer.daily_cap ?? null,
      });
      expect(byId.get(offer.external_id)?.events.map(({ event_id }) => event_id)).toEqual(
        (offer.events ?? []).map(({ event_id }) => event_id),
      );
      expect(Date.parse(byId.get(offer.external_id)?.created_at ?? '')).toBe(Date.parse(offer.created_at));
    }
  });

  it('show several currencies, languages, milestones and paused offers', () => {
    const catalog = catalogOffers(5, offers, end.getTime());
    expect(new Set(catalog.map(({ currency }) => currency))).toEqual(new Set(['USD', 'EUR', 'GBP']));
    expect(catalog.some(({ title }) => typeof title !== 'string' && 'en' in title && 'de' in title)).toBe(true);
    expect(catalog.some(({ events = [] }) => events.length > 1)).toBe(true);
    expect(catalog.some(({ status }) => status === 'paused')).toBe(true);
    expect(catalog.some(({ countries }) => countries.length === 0)).toBe(true);
    expect(new Set(catalog.flatMap(({ id }) => id ?? [])).size).toBe(
      catalog.filter(({ id }) => id !== undefined).length,
    );
  });
});

describe('the exports of a messy network', () => {
  it('hold records to be refused, a warning, and an older export beside the newer one', async () => {
    const read = await readCatalogs('messy', true);
    const refused = [...read].flatMap(([path, results]) =>
      results.flatMap((result) => ('reject' in result ? [`${path.split('/')[1]} ${result.reject}`] : [])),
    );
    expect(refused.toSorted()).toEqual([
      'clickfield bad_payout',
      'lumen no_rate',
      'northstar bad_payout',
      'pollhive not_json_object',
    ]);

    const newest = read.get('offers/northstar/catalog-2026-03-04.json') ?? [];
    const ids = newest.flatMap((result) => ('offer' in result ? [result.offer.id] : []));
    expect(ids.length - new Set(ids).size).toBe(1);
    expect(newest[0]?.warnings.map(({ warning }) => warning).toSorted()).toEqual(['bad_devices', 'unknown_field']);

    const folderOf = (name: string) => join(folder, 'messy/landing/offers', name);
    const older = await stat(folderOf('northstar/catalog-2026-03-03.json'));
    const newer = await stat(folderOf('northstar/catalog-2026-03-04.json'));
    expect(newer.mtimeMs - older.mtimeMs).toBe(24 * 60 * 60 * 1000);
  });
});
