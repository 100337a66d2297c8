import { readTextFile } from '../../kit/config/regular-file.ts';
import { queryRows } from '../../kit/duckdb/dialect/rows.ts';
import type { Site } from '../../kit/sites/sites.ts';
import { linesOfValues } from '../../kit/text/json-places.ts';
import { unmatchedRules, type CatalogNames } from '../feed/unmatched-rules.ts';
import type { Run } from '../runs/stage.ts';
import type { StateDatabase } from '../warehouse/database.ts';

const maxNamed = 5;

/**
 * Warns of rules and commissions in `sites.json` that name no offer of any catalog, each with its line: they may be
 * slips of the pen, and a list of what is denied would then deny nothing.
 */
export async function warnOfUnmatchedRules(
  { data, logger }: Run,
  { connection }: StateDatabase,
  sites: readonly Site[],
): Promise<void> {
  if (sites.every(({ offers, commissions }) => offers === undefined && commissions === undefined)) return;
  const [names] = await queryRows<{ ids: number[]; sources: string[]; categories: string[] }>(
    connection,
    `SELECT (SELECT coalesce(list(offer_id), []) FROM offers) AS ids, (SELECT coalesce(list(DISTINCT source), []) FROM offers) AS sources,
       (SELECT coalesce(list(DISTINCT lower(category)), []) FROM (SELECT unnest(categories) AS category FROM offer_versions)) AS categories`,
  );
  const known: CatalogNames = {
    ids: new Set(names?.ids),
    sources: new Set(names?.sources),
    categories: new Set(names?.categories),
  };
  const unmatched = sites.flatMap((site, index) =>
    unmatchedRules(site, known).map(({ path, message }) => ({ place: ['sites', index, ...path], message })),
  );
  if (unmatched.length === 0) return;
  const lineOf = linesOfValues(readTextFile(data.sitesFile));
  for (const { place, message } of unmatched.slice(0, maxNamed))
    logger.warn(`${data.sitesFile}, line ${lineOf(place)}: ${place.slice(2).join('.')} ${message}`);
  if (unmatched.length > maxNamed)
    logger.warn(`${unmatched.length - maxNamed} more entries of ${data.sitesFile} name no offer of the catalog`);
}
