import type { DuckDBConnection } from '@duckdb/node-api';
import { join } from 'node:path';
import type { FileEffects } from '../files/effects.ts';
import {
  feedOfferSchema,
  feedOffersFile,
  feedSitesFile,
  feedSitesSchema,
  type FeedOffer,
} from '../feed/feed-document.ts';
import { readModel } from '../warehouse/sql-model.ts';
import type { Moment } from '../time/moment.ts';
import { queryRows, type Row } from '../duckdb/dialect/rows.ts';

/** Writes the feed files of a snapshot from its `offers`, `offer_stats_2d` and `sites`. Every line is checked against the schema. */
export async function writeFeedFiles(
  connection: DuckDBConnection,
  folder: string,
  asOf: Moment,
  files: FileEffects,
): Promise<void> {
  const rows = await queryRows(connection, readModel('marts', 'feed_offers').query);
  const lines = rows.map((row) => `${JSON.stringify(feedOfferSchema.parse(feedOffer(row)))}\n`);
  await files.writeFile(join(folder, feedOffersFile), lines.join(''), 'feed offers: written');
  const sites = await queryRows(
    connection,
    'SELECT site_key, commission, commission_changed_at FROM snapshot.sites ORDER BY site_key',
  );
  const document = feedSitesSchema.parse({
    as_of: asOf,
    sites: sites.map((site) => ({ ...site, commission: shortest(site['commission']) })),
  });
  await files.writeFile(join(folder, feedSitesFile), `${JSON.stringify(document)}\n`, 'feed sites: written');
}

/** What the schema has of a row; the model gives all columns of the offers. */
function feedOffer({
  offer_id,
  titles,
  descriptions,
  events,
  payout,
  epc,
  cvr,
  trend,
  rank,
  ...columns
}: Row): unknown {
  const plain = Object.entries(columns).filter(([name]) => Object.hasOwn(feedOfferSchema.shape, name));
  return {
    ...Object.fromEntries(plain),
    id: offer_id,
    titles: JSON.parse(titles as string),
    descriptions: JSON.parse(descriptions as string),
    payout: shortest(payout),
    events: (JSON.parse(events as string) as FeedOffer['events']).map((event) => ({
      ...event,
      payout: shortest(event.payout),
    })),
    figures: epc === null ? null : { epc: shortest(epc), cvr: shortest(cvr), trend, rank },
  };
}

/** 1.500000 → 1.5 */
function shortest(decimal: unknown): string {
  const text = decimal as string;
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}
