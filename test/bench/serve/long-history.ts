import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { readFile, realpath, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { withDuckDB } from '../../../src/kit/duckdb/open.ts';
import { sha256Of } from '../../../src/kit/files/read-through.ts';
import { quoted, quotedPathList } from '../../../src/kit/text/sql-text.ts';
import { analyticsFile, manifestFile, manifestText, parseManifest } from '../../../src/pipeline/snapshot/manifest.ts';
import { addDays, dayOf, type Day } from '../../../src/kit/time/moment.ts';
import { textKey } from '../../../src/kit/vocabulary/event-key.ts';
import { eventRelation } from '../../../src/pipeline/warehouse/event-files.ts';
import { modelQuery } from '../../../src/pipeline/sql/model-query.ts';
import { historyEnd, type Bench } from '../bench.ts';
import type { ServingData } from './serving-data.ts';

/** As compaction leaves closed days, and staging the pieces of a day that is still open. */
const rowGroupRows = 16_384;
/** Of the newest day: what a refresh every half hour leaves until the day is closed. */
const pieces = 48;
/** As the models write a day of a mart. */
const martRowGroupRows = 4096;
/** One click in so many converts, and its site is told. */
const clicksPerConversion = 50;

/**
 * Gives a published snapshot a long history: closed days of one file each, sorted by event key, and a newest day in
 * unsorted pieces; of every day the conversions and postbacks that came of it. Written directly, in the layout and with
 * the views that the pipeline makes: ingesting a month of a million clicks a day would take the better part of an hour,
 * and a lookup cannot tell.
 */
export async function lengthenHistory(
  { options, terminal, signal }: Bench,
  { data, sites }: ServingData,
): Promise<ServingData> {
  const { clicks, days } = options;
  const perDay = Math.floor(clicks / days);
  const folder = await realpath(data.current);
  const manifest = parseManifest(await readFile(join(folder, manifestFile), 'utf8'));
  const own = Object.keys(manifest.files);
  const added: string[] = [];
  const instance = await DuckDBInstance.create();
  const connection = await instance.connect();
  terminal.progress.start(`writing ${perDay * days} clicks of ${days} days`, days);
  try {
    const siteKeys = sites.map(({ site_key }) => site_key);
    for (let day = 0; day < days; day++) {
      signal.throwIfAborted();
      const date = addDays(dayOf(historyEnd), day + 1 - days);
      const first = day * perDay;
      if (day < days - 1)
        added.push(
          await writePiece(connection, folder, siteKeys, {
            date,
            name: 'run-00000002-full',
            first,
            count: perDay,
            sorted: true,
          }),
        );
      else
        for (let piece = 0; piece < pieces; piece++) {
          const [from, to] = [piece, piece + 1].map((place) => Math.floor((perDay * place) / pieces)) as [
            number,
            number,
          ];
          added.push(
            await writePiece(connection, folder, siteKeys, {
              date,
              name: `run-${String(piece + 3).padStart(8, '0')}-0`,
              first: first + from,
              count: to - from,
              sorted: false,
            }),
          );
        }
      for (const mart of marts)
        added.push(await writeMart(connection, folder, siteKeys, { date, mart, first, count: perDay }));
      terminal.progress.advance(day + 1);
    }
  } finally {
    terminal.progress.finish();
    connection.closeSync();
    instance.closeSync();
  }
  await withDuckDB(join(folder, analyticsFile), {}, async (analytics) => {
    await nameInViews(analytics, folder, [...own, ...added], marts);
    await analytics.run('CHECKPOINT');
  });
  for (const path of [...added, analyticsFile]) manifest.files[path] = await fileFacts(join(folder, path));
  const all = (manifest.row_counts['clicks'] ?? 0) + perDay * days;
  await writeFile(
    join(folder, manifestFile),
    manifestText({ ...manifest, row_counts: { ...manifest.row_counts, clicks: all } }),
  );
  return { data, sites, clicks: all };
}

interface Piece {
  date: Day;
  name: string;
  first: number;
  count: number;
  sorted: boolean;
}

/** Returns its path within the folder. Ids that look like random ones, so that keys lie all over a file. */
async function writePiece(
  connection: DuckDBConnection,
  folder: string,
  siteKeys: readonly string[],
  { date, name, first, count, sorted }: Piece,
): Promise<string> {
  const path = `events/clicks/${date}-${name}.parquet`;
  await connection.run(
    `COPY (
       SELECT click_id, 1000001 + (number % 300)::INTEGER AS offer_id, NULL::VARCHAR AS source, NULL::VARCHAR AS external_id,
         ${siteKeyOf(siteKeys)} AS site_key,
         'user-' || hash(number + 2) % 1000000 AS user_id,
         ${momentIn({ date, first, count })} AS clicked_at,
         (['US', 'GB', 'DE', 'FR', 'BR', 'JP'])[1 + (hash(number + 3) % 6)::INTEGER] AS country,
         (['android', 'ios', 'desktop'])[1 + (hash(number + 4) % 3)::INTEGER] AS device,
         '203.0.113.' || hash(number + 5) % 256 AS ip, 'Mozilla/5.0 (Linux; Android 14) Mobile/' || hash(number + 6) % 500 AS user_agent,
         'campaign-' || number % 40 AS sub1, NULL::VARCHAR AS sub2,
         ${textKey('click_id')} AS event_key, 1::BIGINT AS file_id, 0::UTINYINT AS warnings, NULL::VARCHAR AS reject
       FROM (SELECT range AS number, ${clickIdOfRange} AS click_id FROM range(${first}, ${first + count}))
       ${sorted ? 'ORDER BY event_key, click_id' : ''}
     ) TO ${quoted(join(folder, path))} (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE ${rowGroupRows})`,
  );
  return path;
}

const clickIdOfRange = `format('{:016x}', hash(range))`;

function siteKeyOf(siteKeys: readonly string[]): string {
  return `([${siteKeys.map(quoted).join(', ')}])[1 + (hash(number + 1) % ${siteKeys.length})::INTEGER]`;
}

/** Spread evenly over the day. */
function momentIn({ date, first, count }: Pick<Piece, 'date' | 'first' | 'count'>): string {
  return `TIMESTAMPTZ '${date} 00:00:00+00' + to_microseconds((number - ${first}) * 86400000000 // ${count})`;
}

/** Their columns, of one conversion and of what its site was told of it. */
const martColumns = {
  conversions: `'v-' || number AS conversion_id, click_id, 'credited' AS status, 1000001 + (number % 300)::INTEGER AS offer_id, site_key,
    'user-' || hash(number + 2) % 1000000 AS user_id, NULL::VARCHAR AS event_id, 1.25::DECIMAL(15, 6) AS payout,
    occurred_at AS credited_at, NULL::TIMESTAMPTZ AS reversed_at, occurred_at AS clicked_at, occurred_at`,
  postbacks: `'msg-' || hash(number + 3) AS webhook_id, 'v-' || number AS conversion_id, 'credit' AS kind, click_id, site_key,
    'user-' || hash(number + 2) % 1000000 AS user_id, 1000001 + (number % 300)::INTEGER AS offer_id, 1125::DECIMAL(24, 4) AS reward,
    occurred_at, occurred_at AS enqueued_at, 'delivered' AS state, 1::INTEGER AS attempts, occurred_at AS last_attempt_at,
    200::INTEGER AS last_status, NULL::VARCHAR AS last_error, occurred_at AS delivered_at, NULL::TIMESTAMPTZ AS next_attempt_at`,
};
type Mart = keyof typeof martColumns;
const marts = Object.keys(martColumns) as Mart[];

/** Returns its path within the folder. */
async function writeMart(
  connection: DuckDBConnection,
  folder: string,
  siteKeys: readonly string[],
  { date, mart, first, count }: Pick<Piece, 'date' | 'first' | 'count'> & { mart: Mart },
): Promise<string> {
  const path = `marts/${mart}/${date}-run-00000002.parquet`;
  await connection.run(
    `COPY (
       SELECT ${martColumns[mart]}
       FROM (SELECT range AS number, ${clickIdOfRange} AS click_id FROM range(${first}, ${first + count}, ${clicksPerConversion})),
         LATERAL (SELECT ${siteKeyOf(siteKeys)} AS site_key, ${momentIn({ date, first, count })} AS occurred_at)
       ORDER BY click_id
     ) TO ${quoted(join(folder, path))} (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE ${martRowGroupRows})`,
  );
  return path;
}

/**
 * Names the files in the views of a connected snapshot as the publish does: in the order of their days, by absolute
 * paths. Gives the paths of a group.
 */
export async function nameInViews(
  connection: DuckDBConnection,
  folder: string,
  paths: readonly string[],
  ofMarts: readonly string[],
): Promise<(group: string) => string[]> {
  const within = (group: string) =>
    paths
      .filter((path) => path.startsWith(`${group}/`))
      .toSorted()
      .map((path) => join(folder, path));
  await connection.run(
    `CREATE OR REPLACE VIEW clicks AS WITH click_events AS (SELECT * FROM ${eventRelation('clicks', within('events/clicks'))}) ${modelQuery('marts', 'clicks')}`,
  );
  for (const mart of ofMarts)
    await connection.run(
      `CREATE OR REPLACE VIEW ${mart} AS SELECT * FROM read_parquet(${quotedPathList(within(`marts/${mart}`))}, hive_partitioning = false)`,
    );
  return within;
}

async function fileFacts(path: string): Promise<{ sha256: string; bytes: number }> {
  return { sha256: await sha256Of(path), bytes: (await stat(path)).size };
}
