import type { DuckDBConnection } from '@duckdb/node-api';
import { readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inMemory, withDuckDB } from '../../../src/kit/duckdb/open.ts';
import { countRows } from '../../../src/kit/duckdb/temp-table.ts';
import { sha256Of } from '../../../src/kit/files/read-through.ts';
import { writeExplained } from '../../../src/pipeline/snapshot/content/explained.ts';
import { analyticsTables } from '../../../src/pipeline/snapshot/content/published-tables.ts';
import { analyticsFile, manifestFile, manifestText, parseManifest } from '../../../src/pipeline/snapshot/manifest.ts';
import { modelNames } from '../../../src/pipeline/sql/sql-model.ts';
import { quoted } from '../../../src/kit/text/sql-text.ts';
import { addDays, dayOf, endOfDay } from '../../../src/kit/time/moment.ts';
import { generateLogs, historyEnd, type Bench } from '../bench.ts';
import { nameInViews } from '../serve/long-history.ts';
import { largeCatalog, publishForServing, type ServingData } from '../serve/serving-data.ts';
import { fillBooks } from './synthetic-books.ts';
import { beginDays, filledMarts, networkSites, writeDay } from './synthetic-days.ts';
import { fillDeliveries } from './synthetic-deliveries.ts';

/** What of the network is made up, in a line for whoever reads figures that were measured on it. */
export const synthetic =
  'Synthetic: all events, and what the books and the store of deliveries tell of them, written by SQL and by the pipeline’s models in its layout; real: offers, sites, schema, views and macros, of a refresh.';

/** Of the small network whose refresh makes the schema. */
const ownClicks = 20_000;
/** Of each of the two newest days, which compaction leaves alone: what a refresh every half hour leaves. */
const pieces = 48;

/**
 * A published snapshot of a long history with 5,000 offers and 50 sites. A small network is refreshed and its snapshot
 * then given the history: to ingest it would take hours, and a page cannot tell.
 */
export async function publishLongNetwork(bench: Bench): Promise<ServingData> {
  const { options, terminal, signal } = bench;
  const { days } = options;
  const clicksPerDay = Math.floor(options.clicks / days);
  const size = { clicks: ownClicks, days: 2, end: historyEnd, offers: largeCatalog.offers, sites: networkSites };
  const { data, sites } = await publishForServing(await generateLogs(bench, 'long-network', size), signal);
  const folder = await realpath(data.current);
  const added: string[] = [];
  terminal.progress.start(`writing ${clicksPerDay * days} clicks of ${days} days`, days);
  try {
    await withDuckDB(inMemory, {}, async (connection) => {
      await connection.run(`ATTACH ${quoted(join(folder, analyticsFile))} AS snapshot; USE snapshot`);
      await fillBooks(connection, data, { days, clicksPerDay });
      await beginDays(connection);
      for (let day = 0; day < days; day++) {
        signal.throwIfAborted();
        const date = addDays(dayOf(historyEnd), day + 1 - days);
        const isLast = day === days - 1;
        added.push(
          ...(await writeDay(connection, folder, {
            date,
            first: day * clicksPerDay,
            count: clicksPerDay,
            pieces: day >= days - 2 ? pieces : 1,
            asOf: isLast ? historyEnd : endOfDay(date),
          })),
        );
        terminal.progress.advance(day + 1);
      }
      await nameFiles(connection, folder, added);
      await fillDeliveries(connection, data);
      await writeManifest(connection, folder, added);
    });
  } finally {
    terminal.progress.finish();
  }
  return { data, sites, clicks: clicksPerDay * days };
}

/** Names the files in views and macros as the publish does. */
async function nameFiles(connection: DuckDBConnection, folder: string, paths: readonly string[]): Promise<void> {
  const within = await nameInViews(connection, folder, paths, filledMarts);
  await connection.run(
    modelNames('macros')
      .map((name) => `DROP MACRO TABLE ${name}`)
      .join(';'),
  );
  // No file has clicks ahead of as-of.
  await connection.run('CREATE TEMP TABLE event_files (kind VARCHAR, day DATE, path VARCHAR, last_at TIMESTAMPTZ)');
  await writeExplained(connection, folder, historyEnd, within);
}

/** The manifest of what is there now; files of the small network's events are removed. */
async function writeManifest(connection: DuckDBConnection, folder: string, added: readonly string[]): Promise<void> {
  const manifest = parseManifest(await readFile(join(folder, manifestFile), 'utf8'));
  const rowCounts = { ...manifest.row_counts };
  for (const table of [...analyticsTables, 'clicks', ...filledMarts])
    rowCounts[table] = await countRows(connection, table);
  await connection.run('USE memory; DETACH snapshot');
  const files: typeof manifest.files = {};
  for (const [path, facts] of Object.entries(manifest.files)) {
    if (path.includes('/')) await rm(join(folder, path), { force: true });
    else files[path] = facts;
  }
  for (const path of [...added, analyticsFile, 'offer_names.parquet'])
    files[path] = { sha256: await sha256Of(join(folder, path)), bytes: (await stat(join(folder, path))).size };
  await writeFile(join(folder, manifestFile), manifestText({ ...manifest, row_counts: rowCounts, files }));
}
