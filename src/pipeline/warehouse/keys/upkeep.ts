import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { EventKind } from '../../../kit/vocabulary/values.ts';
import { queryRows } from '../../../kit/duckdb/dialect/rows.ts';
import { eventFilePaths } from '../event-files.ts';
import { kyselyOn } from '../kysely.ts';
import { addKeyRun, entriesOf, keyRunName, promoteKeyRun, type KeyRunsOf } from './event-keys.ts';
import { KeyRun, type SortedKeys } from './key-run.ts';

/**
 * Returns the trouble with the key runs of a kind, if any: they have to name every event, or a copy would pass as new.
 * `deep` reads every entry and compares their sums with those of the event files.
 */
export async function troubleWithKeyRuns(
  { connection, data }: Pick<KeyRunsOf, 'connection' | 'data'>,
  kind: EventKind,
  deep = false,
): Promise<string | undefined> {
  const db = kyselyOn(connection);
  const events = await db
    .selectFrom('event_files')
    .select(({ fn }) => fn.sum<number | null>('rows').as('rows'))
    .where('kind', '=', kind)
    .executeTakeFirst();
  const runs = await db.selectFrom('key_runs').select(['path', 'entries', 'bytes']).where('kind', '=', kind).execute();
  const entries = runs.reduce((sum, run) => sum + run.entries, 0);
  if (entries !== (events?.rows ?? 0)) return `there are ${entries} keys of ${events?.rows ?? 0} ${kind}`;
  for (const { path, bytes } of runs) {
    const size = await stat(join(data.warehouse, path)).then(
      (about) => about.size,
      () => undefined,
    );
    if (size === undefined) return `${path} is missing`;
    if (size !== bytes) return `${path} has another size than was written`;
  }
  return deep ? sumsDiffer({ connection, data }, kind, runs) : undefined;
}

async function sumsDiffer(
  { connection, data }: Pick<KeyRunsOf, 'connection' | 'data'>,
  kind: EventKind,
  runs: readonly { path: string }[],
): Promise<string | undefined> {
  let [high, low] = [0n, 0n];
  for (const { path } of runs) {
    try {
      using run = new KeyRun(join(data.warehouse, path));
      // The words of one page add up to less than 2⁵³.
      for (const keys of run.all()) {
        high += BigInt(keys.high.reduce((sum, word) => sum + word, 0));
        low += BigInt(keys.low.reduce((sum, word) => sum + word, 0));
      }
    } catch (error) {
      return (error as Error).message;
    }
  }
  const files = await eventFilePaths(connection, data, kind);
  const [sums] = await queryRows<{ high: string; low: string }>(
    connection,
    `SELECT coalesce(sum(high), 0)::VARCHAR AS high, coalesce(sum(low), 0)::VARCHAR AS low FROM (${entriesOf(kind, files)})`,
  );
  return sums?.high === String(high) && sums.low === String(low)
    ? undefined
    : `the keys are not those of the ${kind} in the event files`;
}

/** Writes the keys of all events of a kind again where they are not whole. In the caller's transaction. */
export async function ensureKeyRuns(of: KeyRunsOf, kind: EventKind, runId: number): Promise<void> {
  const trouble = await troubleWithKeyRuns(of, kind);
  if (trouble === undefined) return;
  of.logger.info({ kind, reason: trouble }, 'key runs are incomplete: writing them again from the events');
  await writeKeysAgain(of, kind, runId);
}

export async function writeKeysAgain(of: Omit<KeyRunsOf, 'logger'>, kind: EventKind, runId: number): Promise<void> {
  await kyselyOn(of.connection).deleteFrom('key_runs').where('kind', '=', kind).execute();
  await addKeyRun(of, kind, await eventFilePaths(of.connection, of.data, kind), keyRunName(runId, 'all'));
}

/** A merge is sorted in memory, eight bytes an entry. */
const maxMergedEntries = 32_000_000;

/**
 * Makes one key run of the smallest ones of a kind where there are `atLeast` of them that are of no more than twice the
 * size of those below them together: so an entry is written again only as often as the events have doubled, and the
 * runs to look through stay few. In the caller's transaction.
 */
export async function mergeKeyRuns(
  of: Omit<KeyRunsOf, 'logger'>,
  kind: EventKind,
  runId: number,
  atLeast: number,
): Promise<number> {
  const db = kyselyOn(of.connection);
  const runs = await db
    .selectFrom('key_runs')
    .select(['path', 'entries'])
    .where('kind', '=', kind)
    .orderBy('entries')
    .orderBy('path')
    .execute();
  const chosen: typeof runs = [];
  let entries = 0;
  for (const run of runs) {
    if (chosen.length > 1 && (run.entries > 2 * entries || entries + run.entries > maxMergedEntries)) break;
    chosen.push(run);
    entries += run.entries;
  }
  if (chosen.length < atLeast || entries > maxMergedEntries) return 0;
  // As one whole number an entry sorts by its high word first, if that is the later one of the two in memory.
  const merged = new Uint32Array(2 * entries);
  let at = 0;
  for (const { path } of chosen) {
    using run = new KeyRun(join(of.data.warehouse, path));
    for (const { high, low } of run.all()) {
      for (let index = 0; index < high.length; index++) {
        merged[at++] = low[index] as number;
        merged[at++] = high[index] as number;
      }
    }
  }
  new BigUint64Array(merged.buffer).sort();
  await db
    .deleteFrom('key_runs')
    .where(
      'path',
      'in',
      chosen.map(({ path }) => path),
    )
    .execute();
  await promoteKeyRun(of, kind, keyRunName(runId, 'merged'), chunksOf(merged));
  return chosen.length;
}

const entriesAtOnce = 65_536;

async function* chunksOf(words: Uint32Array): AsyncGenerator<SortedKeys> {
  for (let start = 0; start < words.length; start += 2 * entriesAtOnce) {
    const part = words.subarray(start, start + 2 * entriesAtOnce);
    const keys = { high: new Uint32Array(part.length / 2), low: new Uint32Array(part.length / 2) };
    for (let index = 0; index < keys.high.length; index++) {
      keys.low[index] = part[2 * index] as number;
      keys.high[index] = part[2 * index + 1] as number;
    }
    yield keys;
  }
}
