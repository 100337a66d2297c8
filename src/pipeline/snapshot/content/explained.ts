import type { DuckDBConnection } from '@duckdb/node-api';
import { basename, join } from 'node:path';
import { quoted } from '../../../kit/text/sql-text.ts';
import { figureParameters, windowStart } from '../../models/windows.ts';
import { addDays, dayOf, type Day, type Moment } from '../../../kit/time/moment.ts';
import { queryRows } from '../../../kit/duckdb/dialect/rows.ts';
import { eventRelation } from '../../warehouse/event-files.ts';
import { dayOfFile } from '../layout.ts';
import { tableFile } from '../manifest.ts';
import { movableFiles } from '../movable-files.ts';
import { commentOf } from './published-tables.ts';
import { modelQuery } from '../../sql/model-query.ts';
import { readModel } from '../../sql/sql-model.ts';

/**
 * Stores the table macros of `sql/macros`, with their parameters and the files that they read.
 * They read files only: DuckDB looks up a macro's tables where it is called, so one that reads tables fails where the
 * file is attached.
 */
export async function writeExplained(
  connection: DuckDBConnection,
  folder: string,
  asOf: Moment,
  parquet: (group: string) => string[],
): Promise<void> {
  const listed = (paths: readonly string[]) => movableFiles(folder, paths);
  const since = (first: Day) => (path: string) => basename(path) >= first;
  const clicks = parquet('events/clicks').filter(since(dayOf(windowStart(asOf))));
  // A credit of the last 48 hours may be of the day before the window.
  const conversions = parquet('marts/conversions').filter(since(addDays(dayOf(asOf), -2)));
  const mart = (name: string, files: readonly string[]) =>
    `${name} AS (SELECT * FROM read_parquet(${listed(files)}, hive_partitioning = false))`;
  const offers = mart('offers', [join(folder, tableFile('offers'))]);
  const tables = `${mart('conversions', conversions)}, ${offers}`;
  await storeMacro(
    connection,
    'figures_explained(an_offer_id, newest := NULL)',
    asOf,
    // The newest files come first: with them DuckDB knows which others it need not read.
    `${clickRelations(`SELECT * FROM ${eventRelation('clicks', clicks.toReversed(), { listed })}`)}, ${tables}`,
  );
  const cut = await namesOfCutFiles(connection, asOf);
  // Moments of files that as-of does not cut are not read: for a million clicks that would double the time.
  const upToAsOf = (columns: string, files: readonly string[], options = '') => {
    const relation = (of: readonly string[]) => eventRelation('clicks', of, { listed, options });
    const whole = `SELECT ${columns} FROM ${relation(files.filter((path) => !cut.has(basename(path))))}`;
    const others = files.filter((path) => cut.has(basename(path)));
    if (others.length === 0) return whole;
    return `${whole} UNION ALL SELECT ${columns} FROM ${relation(others)} WHERE clicked_at <= TIMESTAMPTZ '${asOf}'`;
  };
  const inWindow = upToAsOf('offer_id, source, external_id, site_key', clicks);
  await storeMacro(connection, 'figures_by_site()', asOf, `${clickRelations(inWindow)}, ${tables}`);
  await storeMacro(connection, 'postbacks_by_site()', asOf, mart('postbacks', parquet('marts/postbacks')));
  // Of any days: all files, most of which DuckDB passes over by their names.
  const datedConversions = `dated_conversions AS (SELECT *, ${dayOfFile} AS day FROM read_parquet(${listed(parquet('marts/conversions'))}, hive_partitioning = false, filename = true))`;
  const ofDays = upToAsOf(
    `offer_id, source, external_id, country, device, ${dayOfFile} AS day`,
    parquet('events/clicks'),
    ', filename = true',
  );
  await storeMacro(
    connection,
    'figures_by_country(days := 30)',
    asOf,
    `${clickRelations(ofDays, 'dated_')}, ${datedConversions}, ${offers}`,
  );
  await storeMacro(
    connection,
    'figures_by_click_day(days := 30)',
    asOf,
    `${mart('conversions', parquet('marts/conversions'))}, ${mart('offer_daily', parquet('marts/offer_daily'))}`,
  );
  await storeMacro(connection, 'reversals_by_source(days := 30)', asOf, datedConversions);
}

/**
 * Returns the relations of clicks: all of them, and those that name their offer. DuckDB holds in memory what is named
 * twice after `WITH`, with the columns of all readers: 6 GB for 60 days of a million clicks in place of 2.
 * `NOT MATERIALIZED` is lost where a macro is read from a file.
 */
function clickRelations(query: string, prefix = ''): string {
  return `${prefix}click_events AS (${query}), ${prefix}named_click_events AS (SELECT * FROM (${query}) WHERE offer_id IS NULL)`;
}

/** Stores one macro. `call`: its name with its parameters; `relations`: its definitions after `WITH`. */
async function storeMacro(connection: DuckDBConnection, call: string, asOf: Moment, relations: string): Promise<void> {
  const model = readModel('macros', call.slice(0, call.indexOf('(')));
  const { name } = model;
  await connection.run(
    `CREATE MACRO snapshot.${call} AS TABLE WITH ${relations} ${modelQuery('macros', name, figureParameters(asOf))};
     COMMENT ON MACRO TABLE snapshot.${name} IS ${quoted(commentOf(model))}`,
  );
}

/** Returns the names in the snapshot's folder of files with clicks later than as-of. */
async function namesOfCutFiles(connection: DuckDBConnection, asOf: Moment): Promise<Set<string>> {
  const files = await queryRows<{ day: Day; path: string }>(
    connection,
    `SELECT day::VARCHAR AS day, path FROM event_files WHERE kind = 'clicks' AND last_at > TIMESTAMPTZ '${asOf}'`,
  );
  return new Set(files.map(({ day, path }) => `${day}-${basename(path)}`));
}
