import type { DuckDBConnection } from '@duckdb/node-api';
import { hasHalfSurrogates, withoutHalfSurrogates } from '../../../kit/text/half-surrogates.ts';
import { mappedKeys } from '../../landing/lines/mapped-line.ts';
import { numberedLines, droppableFields, warningBit } from '../../landing/logs/log-parser.ts';
import type { LogSchema } from '../../landing/logs/log-fields.ts';
import { looksRoundedSql, roundedId } from '../../../kit/text/rounded-id.ts';
import { quoted } from '../../../kit/text/sql-text.ts';
import type { EventKind } from '../../../kit/vocabulary/values.ts';
import { queryRows } from '../../../kit/duckdb/dialect/rows.ts';
import { eventRelation } from '../../warehouse/event-files.ts';
import { insertInto } from '../../warehouse/insert-into.ts';
import type { LogBatch, LogBatchFile } from '../engine/log-batch.ts';
import { maxFieldNameCharacters, maxUnknownFieldsCounted, maxUnknownFieldsNamed } from '../ledger/ledger.ts';
import { furtherFields, mappedWarnings, nullText, totalOf, type CountedWarning } from '../ledger/warning-counts.ts';

/** Writes `ingest_warnings` for the accepted events and gives the number of warnings by file. */
export async function recordWarnings(
  connection: DuckDBConnection,
  schema: LogSchema,
  batch: LogBatch,
  paths: readonly string[],
): Promise<Map<number, number>> {
  const counts = new Map<number, number>();
  const add = async (warnings: FileWarning[]) => {
    for (const { file_id: id, rows } of warnings) counts.set(id, (counts.get(id) ?? 0) + rows);
    await insertInto(connection, 'ingest_warnings', warnings);
  };
  await add(nullTexts(schema, batch));
  await add(ofMappings(batch));
  if (paths.length === 0) return counts;
  const bits = [
    ...droppableFields(schema).map(({ name }, index) => ({
      warning: `bad_${name}`,
      field: name,
      bit: warningBit.firstDropped << index,
    })),
    { warning: 'half_surrogate', field: null, bit: warningBit.halfSurrogate },
    { warning: 'unknown_field', field: null, bit: warningBit.unknownField },
  ];
  const sums = bits.map(({ warning, bit }) => `count(*) FILTER (warnings & ${bit} > 0) AS ${warning}`);
  const rows = await queryRows<Record<string, number>>(
    connection,
    `SELECT file_id, ${sums.join(', ')} FROM ${eventRelation(schema.kind, paths)} WHERE warnings > 0 GROUP BY file_id`,
  );
  const written: FileWarning[] = [];
  for (const row of rows) {
    const file = batch.files.find(({ fileId }) => fileId === row['file_id']);
    if (file === undefined) continue;
    const warnings: CountedWarning[] = [];
    for (const { warning, field } of bits) {
      const affected = row[warning] ?? 0;
      if (affected === 0) continue;
      if (warning === 'unknown_field') warnings.push(...(await unknownFields(connection, schema, file, affected)));
      else warnings.push({ warning, field, rows: affected });
    }
    counts.set(file.fileId, (counts.get(file.fileId) ?? 0) + totalOf(warnings));
    written.push(...warnings.map((each) => ({ file_id: file.fileId, ...each })));
  }
  await insertInto(connection, 'ingest_warnings', written);
  await add(await roundedIds(connection, schema, paths));
  return counts;
}

interface FileWarning {
  file_id: number;
  warning: string;
  field: string | null;
  rows: number;
}

/** What mappings passed over. */
function ofMappings({ files }: LogBatch): FileWarning[] {
  return files.flatMap(({ fileId, mapped }) =>
    mappedWarnings(mapped).map((warning) => ({ file_id: fileId, ...warning })),
  );
}

/** Cells that say NULL, in columns that are read. */
function nullTexts({ fields }: LogSchema, { files }: LogBatch): FileWarning[] {
  return files.flatMap(({ fileId, nullTexts: texts }) =>
    fields.flatMap(({ name }) => {
      const rows = texts.get(name);
      return rows === undefined ? [] : [{ file_id: fileId, warning: nullText, field: name, rows }];
    }),
  );
}

/** Identifiers that somebody's list may have had as long numbers. */
const ids: Record<EventKind, readonly string[]> = {
  clicks: ['click_id', 'user_id', 'external_id'],
  conversions: ['conversion_id', 'click_id', 'event_id'],
};

/** Ids that a spreadsheet has rounded, by file and field. */
async function roundedIds(
  connection: DuckDBConnection,
  { kind }: LogSchema,
  paths: readonly string[],
): Promise<FileWarning[]> {
  const conditions = ids[kind].map(looksRoundedSql);
  const rows = await queryRows<Record<string, number> & { file_id: number }>(
    connection,
    `SELECT file_id, ${ids[kind].map((name, index) => `count(*) FILTER (${conditions[index]}) AS ${name}`).join(', ')}
     FROM ${eventRelation(kind, paths)} WHERE ${conditions.join(' OR ')} GROUP BY file_id ORDER BY file_id`,
  );
  return rows.flatMap((row) =>
    ids[kind].flatMap((field) => {
      const affected = row[field] ?? 0;
      return affected === 0 ? [] : [{ file_id: row.file_id, warning: roundedId, field, rows: affected }];
    }),
  );
}

/** Bounds of the search for the names of unknown fields; their presence is known from every row. */
const maxRowsSearched = 10_000;
const maxFieldsSearched = 100;

/** The first unknown fields of a file by name, and the number of the others. */
async function unknownFields(
  connection: DuckDBConnection,
  schema: LogSchema,
  file: LogBatchFile,
  affected: number,
): Promise<CountedWarning[]> {
  for (const lines of numberedLines(file)) {
    const found = await queryRows<{ field: string; fields: number }>(connection, namesOfUnknownFields(schema, lines));
    if (found.length === 0) continue;
    const further = (found[0]?.fields ?? 0) - found.length;
    return [
      ...found.map(({ field }) => ({ warning: 'unknown_field', field, rows: affected })),
      ...(further === 0 ? [] : [{ warning: furtherFields, field: null, rows: further }]),
    ];
  }
  return [{ warning: 'unknown_field', field: null, rows: affected }];
}

function namesOfUnknownFields({ fields }: LogSchema, lines: string): string {
  const records = `SELECT line, CASE WHEN ${hasHalfSurrogates('raw')} THEN ${withoutHalfSurrogates('raw')} ELSE raw END AS record FROM ${lines}`;
  return `
    SELECT field, count(*) OVER () AS fields FROM (
      SELECT left(names[place], ${maxFieldNameCharacters}) AS field, min(line) AS line, min(place) AS place
      FROM (SELECT line, names, unnest(range(1, len(names) + 1)) AS place
            FROM (SELECT line, json_keys(record)[:${maxFieldsSearched}] AS names FROM (${records}) WHERE json_valid(record) LIMIT ${maxRowsSearched}))
      WHERE names[place] NOT IN (${[...fields.map(({ name }) => name), ...mappedKeys].map(quoted).join(', ')})
      GROUP BY field ORDER BY line, place, field LIMIT ${maxUnknownFieldsCounted})
    ORDER BY line, place, field LIMIT ${maxUnknownFieldsNamed}`;
}
