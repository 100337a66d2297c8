import type { DuckDBConnection } from '@duckdb/node-api';
import { join, relative } from 'node:path';
import type { DataDirectory } from '../../../kit/config/data-directory.ts';
import type { Effects } from '../../../kit/files/effects.ts';
import { countRows } from '../../../kit/duckdb/temp-table.ts';
import { wordPairs } from '../../../kit/duckdb/word-pairs.ts';
import type { Logger } from '../../../kit/logging/log.ts';
import { keyRanges } from '../../../kit/vocabulary/event-key.ts';
import type { EventKind } from '../../../kit/vocabulary/values.ts';
import type { Day } from '../../../kit/time/moment.ts';
import { eventFilePaths, eventRelation, eventTime, promoteFile } from '../event-files.ts';
import { kyselyOn } from '../kysely.ts';
import { daysOf, shortDayNumber } from './find-days.ts';
import { entriesPerPage, writeKeyRun, type SortedKeys } from './key-run.ts';
import { runNumberText } from '../../../kit/text/run-number.ts';

/** Access to the key runs of a warehouse. */
export interface KeyRunsOf {
  connection: DuckDBConnection;
  data: DataDirectory;
  effects: Effects;
  logger: Logger;
}

/** Two words of a key as `SortedKeys` has them; `day`: SQL of a number of 16 bits. */
const words = (key: string, day: string) =>
  `(${key} >> 28)::UINTEGER AS high, ((((${key} >> 12) & 65535) << 16) | ${day})::UINTEGER AS low`;

/**
 * Writes the keys of event files as one key run and names it, in the caller's transaction: what that does not commit is
 * litter that no row names.
 */
export async function addKeyRun(
  of: Omit<KeyRunsOf, 'logger'>,
  kind: EventKind,
  files: readonly string[],
  name: string,
): Promise<void> {
  if (files.length === 0) return;
  await promoteKeyRun(of, kind, name, sortedEntries(of.connection, kind, files));
}

/** A range of keys at a time, since sorting all at once takes memory by their number; each range reads all files. */
async function* sortedEntries(
  connection: DuckDBConnection,
  kind: EventKind,
  files: readonly string[],
): AsyncGenerator<SortedKeys> {
  for (const range of keyRanges(await countRows(connection, eventRelation(kind, files)), 'sorted'))
    yield* wordPairs(connection, `${entriesOf(kind, files)} WHERE ${range} ORDER BY high, low`);
}

/** SQL for the two words `(high, low)` of every event in the files. */
export function entriesOf(kind: EventKind, files: readonly string[]): string {
  return `SELECT ${words('event_key', shortDayNumber(eventTime[kind]))} FROM ${eventRelation(kind, files)}`;
}

/** Returns the name of a key run: of a run's new events, or made of several. */
export function keyRunName(runId: number, of?: 'all' | 'merged'): string {
  return ['run', runNumberText(runId), ...(of === undefined ? [] : [of])].join('-');
}

/** Writes sorted entries as a key run of this name and records it. */
export async function promoteKeyRun(
  { connection, data, effects }: Omit<KeyRunsOf, 'logger'>,
  kind: EventKind,
  name: string,
  entries: AsyncIterable<SortedKeys>,
): Promise<void> {
  const scratch = join(data.scratch, `${kind}.keys`);
  await effects.files.makeDirectory(data.scratch);
  const count = await effects.perform(`keys of ${kind}: written`, () => writeKeyRun(scratch, entries));
  const to = join(data.keys, kind, `${name}.keys`);
  const { bytes, sha256 } = await promoteFile(scratch, to, `keys of ${kind}`, effects.files);
  await kyselyOn(connection)
    .insertInto('key_runs')
    .values({ path: relative(data.warehouse, to), kind, entries: count, bytes, sha256 })
    .execute();
}

/** Reading a page of a key run takes so many times as long as DuckDB takes over the key of one event. */
const eventsPerPageRead = 400;
/** Opening an event file takes as long as reading so many keys. */
const eventsPerFile = 40_000;

/**
 * Absolute paths of the event files that may hold an event with one of the keys: those of the days that key runs name,
 * or all where looking through them costs less or a key run is damaged; that is made again by the next ingest. `keys`:
 * SQL of a column `event_key`.
 */
export async function filesThatMayHold(
  { connection, data, logger }: Omit<KeyRunsOf, 'effects'>,
  kind: EventKind,
  keys: string,
): Promise<string[]> {
  const db = kyselyOn(connection);
  const { files, events } = await db
    .selectFrom('event_files')
    .select(({ fn }) => [fn.countAll<number>().as('files'), fn.sum<number | null>('rows').as('events')])
    .where('kind', '=', kind)
    .executeTakeFirstOrThrow();
  const all = () => eventFilePaths(connection, data, kind);
  if (files === 0) return [];
  const runs = await db.selectFrom('key_runs').select(['path', 'entries']).where('kind', '=', kind).execute();
  const wanted = await countRows(connection, `(${keys})`);
  if (wanted === 0) return [];
  const pageReads = runs.reduce((sum, { entries }) => sum + Math.min(wanted, Math.ceil(entries / entriesPerPage)), 0);
  if (pageReads * eventsPerPageRead > (events ?? 0) + files * eventsPerFile) return all();
  const sought = await joined(
    wordPairs(connection, `SELECT DISTINCT ${words('event_key', '0')} FROM (${keys}) ORDER BY high, low`),
  );
  let mayHold: (day: Day) => boolean;
  try {
    mayHold = daysOf(
      runs.map(({ path }) => join(data.warehouse, path)),
      sought,
    );
  } catch (error) {
    logger.warn(
      { reason: (error as Error).message },
      'keys of events cannot be read; all event files are looked through',
    );
    await db.deleteFrom('key_runs').where('kind', '=', kind).execute();
    return all();
  }
  const named = await db
    .selectFrom('event_files')
    .select(['day', 'path'])
    .where('kind', '=', kind)
    .orderBy('day')
    .orderBy('path')
    .execute();
  return named.filter(({ day }) => mayHold(day)).map(({ path }) => join(data.warehouse, path));
}

async function joined(chunks: AsyncIterable<SortedKeys>): Promise<SortedKeys> {
  const all: SortedKeys[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    all.push(chunk);
    length += chunk.high.length;
  }
  const keys = { high: new Uint32Array(length), low: new Uint32Array(length) };
  let at = 0;
  for (const { high, low } of all) {
    keys.high.set(high, at);
    keys.low.set(low, at);
    at += high.length;
  }
  return keys;
}
