import type { LogFieldType, LogSchema } from '../../pipeline/landing/logs/log-fields.ts';
import { lastingFields } from '../../pipeline/ingest/engine/event-engine.ts';
import { eventRowGroupRows } from '../../pipeline/warehouse/event-files.ts';
import type { SteadyDays } from './local-times.ts';
import { plainEvents } from './plain-events.ts';
import type { ViewOfFiles, WrittenQuery } from './spark-driver.ts';

/** Folders of Parquet, by absolute paths, through which the steps of one batch hand on rows. */
export interface StagingFolders {
  /** Links to the files of the batch, or copies, named by `inputName`. */
  input: string;
  /** Every line: decided, or as it is. */
  parsed: string;
  /** Events of the lines that the coordinator parsed. */
  odd: string;
  /** Events of history that have a key of the batch's. */
  known: string;
  duplicates: string;
  /** Events by day. */
  days: string;
}

/** A plain name: place in the batch, and number in the ledger. */
export function inputName(position: number, fileId: number): string {
  return `${position}-${fileId}.ndjson`;
}

/**
 * Columns that identify a line, in the order in which the first of equal events wins: file, part of the file, line in
 * it.
 */
const place = ['position', 'block', 'id'];
const placeColumns = place.map((name) => `${name} BIGINT`).join(', ');

/** Spark's types of fields that are no text. */
const sparkTypes: Partial<Record<LogFieldType, string>> = {
  'offer number': 'INT',
  time: 'TIMESTAMP',
  payout: 'DECIMAL(15, 6)',
};

/** Between jobs; packed as the days are, so that executors load one library for it. */
const passing = { compression: 'zstd' };

/** The lines of the batch. Line ends are those that the check of the files left: no others count. */
export function linesView(paths: readonly string[]): ViewOfFiles {
  const name = (part: number) => `CAST(split(_metadata.file_name, '[-.]')[${part}] AS BIGINT)`;
  return {
    view: 'lines',
    format: 'text',
    schema: 'value STRING',
    paths,
    options: { lineSep: '\n' },
    columns: [
      `${name(0)} AS position`,
      `${name(1)} AS file_id`,
      '_metadata.file_block_start AS block',
      // Counts upwards within a part of a file.
      'monotonically_increasing_id() AS id',
      'value AS raw',
    ],
  };
}

export function eventsQuery(
  schema: LogSchema,
  { parsed }: StagingFolders,
  steady: readonly SteadyDays[] = [],
): WrittenQuery {
  return { query: plainEvents(schema, 'lines', steady), folder: parsed, options: passing };
}

/** Views of all that is known before duplicates are decided. */
export function eventViews(schema: LogSchema, { parsed, odd, known }: StagingFolders): ViewOfFiles[] {
  const event = `${schema.fields.map(({ name, type }) => `${name} ${sparkTypes[type] ?? 'STRING'}`).join(', ')}, event_key BIGINT`;
  const placed = `${placeColumns}, file_id BIGINT, ${event}`;
  return [
    viewOf('parsed', parsed, `${placed}, day_number INT, raw STRING`),
    viewOf('odd', odd, `${placed}, day_number BIGINT, warnings INT`),
    viewOf('known', known, `${event}, is_reduced BOOLEAN`),
  ];
}

/** View of the events that `duplicatesQuery` found. */
export function duplicatesView({ duplicates }: StagingFolders): ViewOfFiles {
  return viewOf('duplicates', duplicates, `${placeColumns}, file_id BIGINT, conflict BOOLEAN`);
}

function viewOf(view: string, folder: string, schema: string): ViewOfFiles {
  return { view, format: 'parquet', schema, paths: [folder], columns: ['*'] };
}

/**
 * Events of the batch that do not count: place, `file_id` and `conflict`. What the warehouse has comes first, then the
 * batch by place. Only events whose keys come more than once are compared with each other; of a click that has lost its
 * details the other fields are.
 */
export function duplicatesQuery(schema: LogSchema, { duplicates }: StagingFolders): WrittenQuery {
  const lasting = lastingFields(schema);
  const details = schema.fields.filter((field) => !lasting.includes(field));
  const said = (isReduced: string) =>
    `${structOf(lasting)} AS content${details.length === 0 ? '' : `, ${isReduced} AS is_reduced, ${structOf(details)} AS details`}`;
  const differs = (part: string) => `NOT (${part} <=> first_value(${part}) OVER by_arrival)`;
  const conflict =
    details.length === 0
      ? differs('content')
      : `${differs('content')} OR (NOT first_value(is_reduced) OVER by_arrival AND ${differs('details')})`;
  const key = ['event_key', ...schema.key].join(', ');
  return {
    query: `
      WITH events AS (${events(schema)}),
        repeated AS (
          SELECT event_key FROM (SELECT event_key FROM events UNION ALL SELECT event_key FROM known)
          GROUP BY event_key HAVING count(*) > 1),
        candidates AS (
          SELECT -1 AS position, 0 AS block, 0 AS id, CAST(NULL AS BIGINT) AS file_id, ${key}, ${said('is_reduced')} FROM known
          UNION ALL
          SELECT ${place.join(', ')}, file_id, ${key}, ${said('false')} FROM events LEFT SEMI JOIN repeated USING (event_key))
      SELECT ${place.join(', ')}, file_id, conflict
      FROM (
        SELECT ${place.join(', ')}, file_id, row_number() OVER by_arrival AS nth,
          ${conflict} AS conflict
        FROM candidates
        WINDOW by_arrival AS (PARTITION BY ${key} ORDER BY ${place.join(', ')}))
      WHERE nth > 1 AND position >= 0`,
    folder: duplicates,
    options: passing,
  };
}

function structOf(fields: LogSchema['fields']): string {
  return `struct(${fields.map(({ name }) => name).join(', ')})`;
}

/** The events that count, by day, in the columns of event files. */
export function daysQuery(schema: LogSchema, { days }: StagingFolders): WrittenQuery {
  const fields = schema.fields.map(({ name }) => name).join(', ');
  return {
    query: `
      SELECT /*+ REBALANCE(day_number) */ ${fields}, event_key, file_id, CAST(warnings AS SMALLINT) AS warnings, CAST(NULL AS STRING) AS reject, day_number
      FROM (${events(schema)}) LEFT ANTI JOIN duplicates USING (${place.join(', ')})`,
    folder: days,
    partitionBy: ['day_number'],
    options: { compression: 'zstd', 'parquet.block.row.count.limit': String(eventRowGroupRows) },
  };
}

/** Query of the events in the lines that Spark decided and in those that the coordinator did. */
function events(schema: LogSchema): string {
  const columns = [...place, 'file_id', 'event_key', 'day_number', ...schema.fields.map(({ name }) => name)].join(', ');
  return `SELECT ${columns}, 0 AS warnings FROM parsed WHERE raw IS NULL UNION ALL SELECT ${columns}, warnings FROM odd`;
}
