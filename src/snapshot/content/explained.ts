import type { DuckDBConnection } from '@duckdb/node-api';
import { basename, join } from 'node:path';
import { quoted, quotedPath, quotedPathList } from '../../text/sql-text.ts';
import { figureParameters, windowStart } from '../../models/windows.ts';
import { addDays, dayOf, type Day, type Moment } from '../../time/moment.ts';
import { eventRelation } from '../../warehouse/event-files.ts';
import { modelQuery } from '../../sql/model-query.ts';
import { readModel } from '../../sql/sql-model.ts';

/** Names of offers, for clicks that give their offer by source and external id. */
export const offerNamesFile = 'offer_names.parquet';

/**
 * Stores the table macro `figures_explained(offer_id)`. DuckDB looks up a macro's tables where it is called, not where
 * it is stored, so one that names tables fails where the file is attached. This one names files only: those of its few
 * days.
 */
export async function writeExplained(
  connection: DuckDBConnection,
  folder: string,
  asOf: Moment,
  parquet: (group: string) => string[],
): Promise<void> {
  const names = join(folder, offerNamesFile);
  await connection.run(
    `COPY (SELECT offer_id, source, external_id FROM snapshot.offers ORDER BY offer_id) TO ${quoted(names)} (FORMAT parquet)`,
  );
  const since = (first: Day) => (path: string) => basename(path) >= first;
  const clicks = parquet('events/clicks').filter(since(dayOf(windowStart(asOf))));
  // A credit of the last 48 hours may lie a day before the window.
  const conversions = parquet('marts/conversions').filter(since(addDays(dayOf(asOf), -2)));
  const { name, purpose, grain } = readModel('macros', 'figures_explained');
  await connection.run(
    `CREATE MACRO snapshot.${name}(an_offer_id) AS TABLE
     WITH click_events AS (SELECT * FROM ${eventRelation('clicks', clicks)}),
       conversions AS (SELECT * FROM read_parquet(${quotedPathList(conversions)}, hive_partitioning = false)),
       offers AS (SELECT * FROM read_parquet(${quotedPath(names)})),
       clicks AS (${modelQuery('marts', 'clicks')})
     ${modelQuery('macros', name, figureParameters(asOf))}`,
  );
  await connection.run(`COMMENT ON MACRO TABLE snapshot.${name} IS ${quoted(`${purpose} Grain: ${grain}.`)}`);
}
