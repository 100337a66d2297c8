import type { DuckDBConnection } from '@duckdb/node-api';
import { basename } from 'node:path';
import { packageVersion } from '../../../kit/files/package-files.ts';
import { identifier, quoted, quotedList, quotedPathList } from '../../../kit/text/sql-text.ts';
import { makeTempView } from '../../../kit/duckdb/temp-table.ts';
import { loadSiteCommissions, makeRunInput, runInputs, type RunInputName } from '../../sql/run-inputs.ts';
import { modelQuery } from '../../sql/model-query.ts';
import { readModel, type SqlModel } from '../../sql/sql-model.ts';
import { queryRows } from '../../../kit/duckdb/dialect/rows.ts';
import { eventFilePaths, eventRelation, eventTime } from '../../warehouse/event-files.ts';
import { insertRows } from '../../../kit/duckdb/insert-rows.ts';
import type { DataDirectory } from '../../../kit/config/data-directory.ts';
import type { Site } from '../../../kit/sites/sites.ts';
import { commissionText } from '../../../kit/sites/sites.ts';
import type { Moment } from '../../../kit/time/moment.ts';
import { eventKinds } from '../../../kit/vocabulary/values.ts';
import type { Run } from '../../runs/stage.ts';
import { schemaVersion } from '../manifest.ts';
import { movableFiles } from '../movable-files.ts';
import { writeExplained } from './explained.ts';
import { loadLineage } from './lineage.ts';
import { loadMetrics } from './metrics.ts';
import { writeTableOfMacros } from './table-files.ts';
import { analyticsTables, analyticsViews, commentOf } from './published-tables.ts';

/** Marts whose rows the models stage keeps in a table of the state, under the same name. */
const keptByTheState: ReadonlySet<string> = new Set(['offer_stats_2d', 'network_hourly']);

/**
 * Writes the tables and views of `analytics.duckdb`, attached as `snapshot`, with a comment on every table and column,
 * and the file of the table that macros read.
 * `parquet` returns the absolute paths of a group's files in the snapshot's folder: views list files, never a pattern,
 * so they give the same answers for as long as the folder exists, wherever it is. Returns the number of rows of each
 * table.
 */
export async function writeAnalytics(
  connection: DuckDBConnection,
  { data, runId, asOf }: Pick<Run, 'data' | 'runId' | 'asOf'>,
  sites: readonly Site[],
  folder: string,
  parquet: (group: string) => string[],
): Promise<Record<string, number>> {
  await loadSites(connection, sites);
  await loadSiteCommissions(connection, sites);
  await openExceptedConversions(connection, sites, parquet('marts/conversions'));
  await loadIdentity(connection, { snapshot_id: basename(folder), as_of: asOf, run_id: runId });
  await openCutEventFiles(connection, data, asOf);
  await loadMetrics(connection, asOf);
  await loadLineage(connection);
  const rowCounts: Record<string, number> = {};
  for (const name of analyticsTables) {
    const model = readModel('marts', name);
    const query = keptByTheState.has(name)
      ? `SELECT * FROM ${name} ORDER BY ${model.key.join(', ')}`
      : modelQuery('marts', name, { as_of: asOf });
    const [written] = await queryRows<{ Count: number }>(connection, `CREATE TABLE snapshot.${name} AS ${query}`);
    rowCounts[name] = written?.Count ?? 0;
    await connection.run(commentsOf('TABLE', model));
  }
  await writeTableOfMacros(connection, folder);
  await writeExplained(connection, folder, asOf, parquet);
  const listed = (paths: readonly string[]) => movableFiles(folder, paths);
  // Created within the snapshot's catalog, so that views work wherever the file is opened.
  const [own] = await queryRows<{ catalog: string }>(connection, 'SELECT current_catalog() AS catalog');
  await connection.run('USE snapshot');
  try {
    for (const name of analyticsViews) {
      const model = readModel('marts', name);
      const query =
        name === 'clicks'
          ? `WITH click_events AS (SELECT * FROM ${eventRelation('clicks', parquet('events/clicks'), { listed })}) ${modelQuery('marts', name)}`
          : `SELECT * FROM read_parquet(${listed(parquet(`marts/${name}`))}, hive_partitioning = false)`;
      await connection.run(`CREATE VIEW ${name} AS ${query};\n${commentsOf('VIEW', model)}`);
    }
  } finally {
    await connection.run(`USE ${identifier(own?.catalog ?? 'state')}`);
  }
  return rowCounts;
}

/** Returns SQL for the comments on a table or view and its columns; in one go, since a snapshot has two hundred. */
function commentsOf(what: 'TABLE' | 'VIEW', model: SqlModel): string {
  return [
    `COMMENT ON ${what} snapshot.${model.name} IS ${quoted(commentOf(model))}`,
    ...Object.entries(model.columns).map(
      ([column, meaning]) => `COMMENT ON COLUMN snapshot.${model.name}.${column} IS ${quoted(meaning)}`,
    ),
  ].join(';\n');
}

/**
 * Makes the view that `newest_events` reads of event files that as-of cuts, which also have later events. For all
 * others their row in `event_files` has the newest event.
 */
async function openCutEventFiles(connection: DuckDBConnection, data: DataDirectory, asOf: Moment): Promise<void> {
  const moments: string[] = [];
  for (const kind of eventKinds) {
    const cut = await eventFilePaths(connection, data, kind, { from: asOf, to: asOf });
    moments.push(`SELECT '${kind}' AS kind, ${eventTime[kind]} AS moment FROM ${eventRelation(kind, cut)}`);
  }
  await makeTempView(connection, 'cut_event_files' satisfies RunInputName, moments.join(' UNION ALL '));
}

/**
 * Makes the view of credited conversions of the sites that have commissions for some offers. Where there is no such
 * site it reads nothing: the files have all of history.
 */
async function openExceptedConversions(
  connection: DuckDBConnection,
  sites: readonly Site[],
  files: readonly string[],
): Promise<void> {
  const columns = Object.entries(runInputs.excepted_conversions.columns);
  const none = `SELECT ${columns.map(([name, type]) => `NULL::${type} AS ${name}`).join(', ')} WHERE false`;
  const ofSites = sites.filter(({ commissions = [] }) => commissions.length > 0).map(({ site_key }) => site_key);
  await makeTempView(
    connection,
    'excepted_conversions' satisfies RunInputName,
    ofSites.length === 0 || files.length === 0
      ? none
      : `SELECT ${columns.map(([name]) => name).join(', ')} FROM read_parquet(${quotedPathList(files)}, hive_partitioning = false)
         WHERE status = 'credited' AND site_key IN (SELECT unnest(${quotedList(ofSites)}))`,
  );
}

/** Makes the table that the `snapshot` mart reads. */
async function loadIdentity(
  connection: DuckDBConnection,
  identity: { snapshot_id: string; as_of: Moment; run_id: number },
): Promise<void> {
  await insertRows(
    connection,
    await makeRunInput(connection, 'run_snapshot'),
    {
      snapshot_id: 'VARCHAR',
      as_of: 'VARCHAR',
      run_id: 'BIGINT',
      schema_version: 'INTEGER',
      offerline_version: 'VARCHAR',
    },
    [{ ...identity, schema_version: schemaVersion, offerline_version: packageVersion() }],
  );
}

/** Makes the table that the `sites` mart reads, without secrets and postback addresses, which may have credentials. */
async function loadSites(connection: DuckDBConnection, sites: readonly Site[]): Promise<void> {
  await insertRows(
    connection,
    await makeRunInput(connection, 'run_sites'),
    {
      site_key: 'VARCHAR',
      name: 'VARCHAR',
      status: 'VARCHAR',
      variant: 'VARCHAR',
      commission: 'VARCHAR',
      reward_rate: 'VARCHAR',
      rate_limit_per_hour: 'INTEGER',
    },
    sites.map(({ site_key, name, status, variant, ...site }) => ({
      site_key,
      name,
      status,
      variant,
      commission: commissionText(site),
      reward_rate: String(site.reward_rate),
      rate_limit_per_hour: site.rate_limit_per_hour,
    })),
  );
}
