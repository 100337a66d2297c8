import { momentAsText, shortestDecimal } from '../../../kit/text/sql-text.ts';
import type { DuckDBConnection } from '@duckdb/node-api';
import { join } from 'node:path';
import { chunksOf } from '../../../kit/duckdb/dialect/rows.ts';
import { feedOfferSchema, feedOffersFile, feedSitesFile, feedSitesSchema } from '../../feed/feed-document.ts';
import type { FeedSites } from '../../feed/feed-document.ts';
import type { SiteTerms } from '../../../kit/sites/site-terms.ts';
import { FeedOffers } from '../../feed/feed-offers.ts';
import type { FileEffects } from '../../../kit/files/effects.ts';
import { modelQuery } from '../../sql/model-query.ts';
import { readPublished } from '../../sql/run-model.ts';
import type { Moment } from '../../../kit/time/moment.ts';

/**
 * Writes the feed files of a snapshot from its `offers`, `offer_stats_2d` and `sites`. Checks every line against the
 * schema, but for those that the snapshot in `publishedFolder` has as well: they were checked with that one.
 */
export async function writeFeedFiles(
  connection: DuckDBConnection,
  folder: string,
  publishedFolder: string | undefined,
  asOf: Moment,
  files: FileEffects,
): Promise<void> {
  const checked = await publishedLines(publishedFolder);
  const lines: Buffer[] = [];
  const written = chunksOf(await connection.stream(feedLines())) as AsyncIterable<{ id: number; line: string }[]>;
  for await (const rows of written) {
    for (const { id, line } of rows) {
      const text = asJavaScriptWrites(line);
      const bytes = Buffer.from(`${text}\n`);
      if (checked.get(id)?.equals(bytes) !== true) feedOfferSchema.parse(JSON.parse(text));
      lines.push(bytes);
    }
  }
  await files.writeFile(join(folder, feedOffersFile), Buffer.concat(lines), 'feed offers: written');
  const document = feedSitesSchema.parse({ as_of: asOf, sites: await feedSites(connection) });
  await files.writeFile(join(folder, feedSitesFile), `${JSON.stringify(document)}\n`, 'feed sites: written');
}

/** Returns the snapshot's sites with the terms that their feeds go by, those in force last. */
async function feedSites(connection: DuckDBConnection): Promise<FeedSites['sites']> {
  const sites = await readPublished(connection, 'sites', ['site_key'], 'snapshot.');
  const columns = ['site_key', 'valid_from', 'commission', 'commissions', 'offers'] as const;
  const terms = Map.groupBy(
    await readPublished(connection, 'site_terms', columns, 'snapshot.'),
    ({ site_key }) => site_key,
  );
  return sites.map(({ site_key }) => ({
    site_key,
    terms: (terms.get(site_key) ?? [])
      .filter((own, place, all) => shownBy(own) !== shownBy(all[place - 1]))
      .map(({ valid_from, commission, commissions, offers }) => ({
        valid_from,
        commission: commission.replace(/\.?0+$/, ''),
        commissions: JSON.parse(commissions) as SiteTerms['commissions'],
        offers: JSON.parse(offers) as SiteTerms['offers'],
      })),
  }));
}

/** Returns what a feed goes by: terms that differ in the rate of rewards alone show the same. */
function shownBy(terms: { commission: string; commissions: string; offers: string } | undefined): string | undefined {
  return terms && JSON.stringify([terms.commission, terms.commissions, terms.offers]);
}

/** Returns the lines of a published feed by offer; none without a snapshot, or where its feed cannot be read. */
async function publishedLines(folder: string | undefined): Promise<Map<number, Buffer>> {
  if (folder === undefined) return new Map();
  const feed = await FeedOffers.read(join(folder, feedOffersFile)).catch(() => undefined);
  return new Map(feed?.lines());
}

/** Returns SQL for the feed's lines of JSON, from the schema's fields. DuckDB writes them in a tenth of the time. */
function feedLines(): string {
  const figures = `CASE WHEN epc IS NOT NULL AND cvr IS NOT NULL
    THEN {'epc': ${shortestDecimal('epc')}, 'cvr': ${shortestDecimal('cvr')}, 'trend': trend, 'rank': rank} END`;
  const special: Record<string, string> = {
    id: 'offer_id',
    payout: shortestDecimal('payout'),
    events: eventsInShortest('events'),
    created_at: momentAsText('created_at'),
    updated_at: momentAsText('updated_at'),
    removed_at: momentAsText('removed_at'),
    figures,
  };
  const fields = Object.keys(feedOfferSchema.shape).map((name) => `${special[name] ?? name} AS ${name}`);
  return `SELECT id, to_json(offer)::VARCHAR AS line
    FROM (SELECT ${fields.join(', ')} FROM (${modelQuery('marts', 'feed_offers')})) AS offer ORDER BY id`;
}

/**
 * Returns SQL that shortens each payout of a JSON list of milestones. A quote within a text has a backslash before it.
 */
function eventsInShortest(events: string): string {
  const payout = String.raw`("payout":"\d+(?:\.\d*[1-9])?)\.?0*"`;
  return `CASE WHEN ${events} = '[]' THEN ${events} ELSE regexp_replace(${events}, '${payout}', '\\1"', 'g')::JSON END`;
}

/** Returns the line as JavaScript writes it: DuckDB writes escapes of control characters in capitals. */
function asJavaScriptWrites(json: string): string {
  return json.includes(String.raw`\u00`) ? JSON.stringify(JSON.parse(json)) : json;
}
