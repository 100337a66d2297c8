import type { DuckDBConnection } from '@duckdb/node-api';
import type { LogSchema } from '../../landing/logs/log-fields.ts';
import { numberedRows, parsedLog } from '../../landing/logs/log-parser.ts';
import { queryRows } from '../../../kit/duckdb/dialect/rows.ts';
import { countRows, makeEmptyTempTable, makeTempTable, type TempTable } from '../../../kit/duckdb/temp-table.ts';
import { keyRanges, repeatedEventKeys } from '../../../kit/vocabulary/event-key.ts';
import { eventRelation } from '../../warehouse/event-files.ts';
import { filesAtOnce } from './files-at-once.ts';
import type { LogBatch } from './log-batch.ts';
import { lastingFields, type StagedFiles, type StagingWork } from './event-engine.ts';

/**
 * Staged events that do not count: `(file_id, file, file_row_number, conflict)`, `file` being the place among the
 * staged days.
 */
type DuplicateEvents = TempTable<'duplicate_events'>;

export interface Duplicates {
  events: DuplicateEvents;
  /**
   * Duplicates and conflicts (duplicates whose content differs from the first one's) by ledger number of their file.
   */
  byFile: Map<number, { duplicates: number; conflicts: number }>;
}

/**
 * Finds the staged events that the warehouse has already, or that an earlier row of this run brought: the first by
 * path, then line, stays. All history counts, whatever day a copy claims to be of. What an event says is compared by
 * its hash: a copy of a whole log costs some bytes a row, however long its rows are.
 */
export async function findDuplicates(
  connection: DuckDBConnection,
  schema: LogSchema,
  batch: LogBatch,
  staged: Pick<StagedFiles, 'days'>,
  history: readonly string[],
  reduced: StagingWork['reduced'],
): Promise<Duplicates> {
  const events = await makeEmptyTempTable(
    connection,
    'duplicate_events',
    'file_id BIGINT, file INTEGER, file_row_number BIGINT, conflict BOOLEAN',
  );
  if (staged.days.length === 0) return { events, byFile: new Map() };
  const rows = eventRelation(
    schema.kind,
    staged.days.map(({ path }) => path),
  );
  // To look for all keys at once takes memory by their number.
  const keys = await countRows(connection, rows);
  await findCopiesOfHistory(connection, schema, events, rows, keyRanges(keys, 'joined'), history, reduced);
  await findRepeats(connection, schema, batch, events, rows, keyRanges(keys, 'compared'));
  const counts = await queryRows<{ file_id: number; duplicates: number; conflicts: number }>(
    connection,
    `SELECT file_id, count(*) AS duplicates, count(*) FILTER (conflict) AS conflicts FROM ${events} GROUP BY file_id`,
  );
  return { events, byFile: new Map(counts.map(({ file_id, ...count }) => [file_id, count])) };
}

/** Reads only the 8-byte keys of history's events first, then whole rows of the files that hold one. */
async function findCopiesOfHistory(
  connection: DuckDBConnection,
  schema: LogSchema,
  duplicates: DuplicateEvents,
  rows: string,
  ranges: readonly string[],
  history: readonly string[],
  reduced: StagingWork['reduced'],
): Promise<void> {
  if (history.length === 0) return;
  const knownKeys = await makeEmptyTempTable(connection, 'known_keys', 'event_key BIGINT, file_index BIGINT');
  for (const range of ranges)
    await connection.run(
      `INSERT INTO ${knownKeys} SELECT event_key, file_index FROM ${eventRelation(schema.kind, history)}
       WHERE ${range} AND event_key IN (SELECT event_key FROM ${rows} WHERE ${range})`,
    );
  const holding = await queryRows<{ file: number }>(
    connection,
    `SELECT DISTINCT file_index AS file FROM ${knownKeys} ORDER BY file`,
  );
  const holders = holding.map(({ file }) => history[file] as string);
  // Different ids with the same hash differ by the ids themselves.
  const key = ['event_key', ...schema.key].join(', ');
  for (const isReduced of [false, true]) {
    const files = holders.filter((path) => reduced.has(path) === isReduced);
    if (files.length === 0) continue;
    const content = hashOf(isReduced ? lastingFields(schema) : schema.fields);
    await connection.run(
      `INSERT INTO ${duplicates}
       SELECT file_id, file, file_row_number, copy.content <> known.content
       FROM (SELECT ${key}, ${content} AS content, file_id, file_index AS file, file_row_number FROM ${rows}) AS copy
       JOIN (SELECT ${key}, ${content} AS content FROM ${eventRelation(schema.kind, files)} WHERE event_key IN (SELECT event_key FROM ${knownKeys})) AS known USING (${key})`,
    );
  }
}

/** Finds events that the warehouse does not have, and this run more than once. */
async function findRepeats(
  connection: DuckDBConnection,
  schema: LogSchema,
  batch: LogBatch,
  duplicates: DuplicateEvents,
  rows: string,
  ranges: readonly string[],
): Promise<void> {
  const repeated = await makeEmptyTempTable(connection, 'repeated_keys', 'event_key BIGINT');
  for (const range of ranges) await connection.run(`INSERT INTO ${repeated} ${repeatedEventKeys(rows, range)}`);
  if ((await countRows(connection, repeated)) === 0) return;
  const key = schema.key.join(', ');
  const candidates = await makeTempTable(
    connection,
    'candidates',
    `SELECT ${key}, ${hashOf(schema.fields)} AS content, staged.file_id, position, NULL::BIGINT AS line, file_index AS file, staged.file_row_number
     FROM ${rows} AS staged JOIN ${batch.positions} USING (file_id)
     ANTI JOIN ${duplicates} AS known ON known.file = staged.file_index AND known.file_row_number = staged.file_row_number
     WHERE event_key IN (SELECT event_key FROM ${repeated})`,
  );
  await numberContradictions(connection, schema, batch, candidates);
  await connection.run(
    `INSERT INTO ${duplicates}
     SELECT file_id, file, file_row_number, content <> first_content
     FROM (
       SELECT file_id, file, file_row_number, content, row_number() OVER by_arrival AS nth, first_value(content) OVER by_arrival AS first_content
       FROM ${candidates}
       WINDOW by_arrival AS (PARTITION BY ${key} ORDER BY position, line NULLS LAST, file, file_row_number))
     WHERE nth > 1`,
  );
}

/** Numbers the lines of files that contradict themselves: there the line decides. */
async function numberContradictions(
  connection: DuckDBConnection,
  schema: LogSchema,
  batch: LogBatch,
  candidates: TempTable<'candidates'>,
): Promise<void> {
  const key = schema.key.join(', ');
  const contradictions = await makeTempTable(
    connection,
    'contradictions',
    `SELECT file_id, ${key} FROM ${candidates} GROUP BY ALL HAVING min(content) <> max(content)`,
  );
  const [id] = schema.key;
  const counted = await queryRows<{ file_id: number; ids: number }>(
    connection,
    `SELECT file_id, count(DISTINCT ${id}) AS ids FROM ${contradictions} GROUP BY file_id ORDER BY file_id`,
  );
  for (const group of filesAtOnce(counted, ({ ids }) => ids, maxIdsLookedFor)) {
    const fileIds = group.map(({ file_id }) => file_id);
    const files = batch.files.filter(({ fileId }) => fileIds.includes(fileId));
    const isFew = group.every(({ ids }) => ids <= maxIdsLookedFor);
    if (isFew) await soughtIds(connection, contradictions, fileIds, id);
    for (const rows of numberedRows(files)) {
      const numbered = await makeTempTable(
        connection,
        'numbered',
        `SELECT file_id, ${key}, ${hashOf(schema.fields)} AS content, min(line) AS line
         FROM (${parsedLog(schema, isFew ? rowsWithIds(rows) : rows)})
         SEMI JOIN ${contradictions} USING (file_id, ${key}) WHERE reject IS NULL GROUP BY ALL`,
      );
      const same = ['file_id', ...schema.key, 'content']
        .map((name) => `${candidates}.${name} = ${numbered}.${name}`)
        .join(' AND ');
      await connection.run(
        `UPDATE ${candidates} SET line = least(${candidates}.line, ${numbered}.line) FROM ${numbered} WHERE ${same}`,
      );
    }
  }
}

/** Limit beyond which all lines of a file are parsed. */
const maxIdsLookedFor = 200;

/** Sets the pattern of the files' contradicting ids, for `rowsWithIds`. */
async function soughtIds(
  connection: DuckDBConnection,
  contradictions: TempTable<'contradictions'>,
  fileIds: readonly number[],
  id: string | undefined,
): Promise<void> {
  await connection.run(
    `SET VARIABLE sought_ids = (SELECT string_agg(DISTINCT regexp_escape(${id}), '|') FROM ${contradictions} WHERE file_id IN (${fileIds.join(', ')}))`,
  );
}

/**
 * SQL for those of numbered lines that may name one of the sought ids: one look at each, where parsing all of them
 * would take ten times as long. An escape may stand for any character of an id. Materialized, since DuckDB moves the
 * condition behind the parsing otherwise.
 */
function rowsWithIds(rows: string): string {
  return `(WITH rows_with_ids AS MATERIALIZED (
      SELECT * FROM ${rows} WHERE contains(raw, '\\') OR regexp_matches(raw, getvariable('sought_ids')))
    FROM rows_with_ids)`;
}

/** SQL for a hash of what an event says in these fields. */
function hashOf(fields: LogSchema['fields']): string {
  return `hash(${fields.map(({ name }) => name).join(', ')})`;
}
