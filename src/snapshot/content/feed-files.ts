import type { DuckDBConnection } from '@duckdb/node-api';
import { join } from 'node:path';
import type { FileEffects } from '../../files/effects.ts';
import {
  feedOfferSchema,
  feedOffersFile,
  feedSitesFile,
  feedSitesSchema,
  type FeedOffer,
} from '../../feed/feed-document.ts';
import { readMart, readPublished, type MartRow } from '../../sql/run-model.ts';
import type { Moment } from '../../time/moment.ts';

/**
 * Writes the feed files of a snapshot from its `offers`, `offer_stats_2d` and `sites`. Every line is checked against
 * the schema.
 */
export async function writeFeedFiles(
  connection: DuckDBConnection,
  folder: string,
  asOf: Moment,
  files: FileEffects,
): Promise<void> {
  const rows = await readMart(connection, 'feed_offers');
  const lines = rows.map((row) => `${JSON.stringify(feedOfferSchema.parse(feedOffer(row)))}\n`);
  await files.writeFile(join(folder, feedOffersFile), lines.join(''), 'feed offers: written');
  const columns = ['site_key', 'commission', 'commission_changed_at'] as const;
  const sites = await readPublished(connection, 'sites', columns, 'snapshot.');
  const document = feedSitesSchema.parse({
    as_of: asOf,
    sites: sites.map((site) => ({ ...site, commission: shortest(site.commission) })),
  });
  await files.writeFile(join(folder, feedSitesFile), `${JSON.stringify(document)}\n`, 'feed sites: written');
}

/** What the schema has of a row; the model gives all columns of the offers. */
function feedOffer(row: MartRow<'feed_offers'>): unknown {
  const { offer_id, titles, descriptions, events, payout, epc, cvr, trend, rank, ...columns } = row;
  const plain = Object.entries(columns).filter(([name]) => Object.hasOwn(feedOfferSchema.shape, name));
  return {
    ...Object.fromEntries(plain),
    id: offer_id,
    titles: JSON.parse(titles),
    descriptions: JSON.parse(descriptions),
    payout: shortest(payout),
    events: (JSON.parse(events) as FeedOffer['events']).map((event) => ({
      ...event,
      payout: shortest(event.payout),
    })),
    figures: epc === null || cvr === null ? null : { epc: shortest(epc), cvr: shortest(cvr), trend, rank },
  };
}

/** 1.500000 → 1.5 */
function shortest(decimal: string): string {
  return decimal.includes('.') ? decimal.replace(/\.?0+$/, '') : decimal;
}
