import { csvRow, type CsvReader } from '../../kit/text/csv.ts';
import type { ColumnValue } from '../../kit/duckdb/dialect/rows.ts';
import type { QueryAnswer } from './query.ts';

export const answerFormats = ['table', 'csv', 'json'] as const;
export type AnswerFormat = (typeof answerFormats)[number];

/** Writes an answer as CSV with a header row, as it comes. Resolves to the number of rows. */
export async function writeCsv(
  { columns, chunks }: QueryAnswer,
  write: (text: string) => void,
  reader: CsvReader = 'program',
): Promise<number> {
  const names = columns.map(({ name }) => name);
  write(csvRow(names, reader));
  let rows = 0;
  for await (const chunk of chunks) {
    write(chunk.map((values) => csvRow(values, reader)).join(''));
    rows += chunk.length;
  }
  return rows;
}

/**
 * Writes one JSON document, as it comes: `about`'s fields, `columns` with their types, and `rows`, an object a line.
 */
export async function writeJson(
  about: object,
  { columns, chunks }: QueryAnswer,
  write: (text: string) => void,
): Promise<number> {
  write(`${JSON.stringify({ ...about, columns }).slice(0, -1)},"rows":[`);
  let rows = 0;
  for await (const chunk of chunks) {
    write(
      chunk
        .map(
          (values, index) =>
            `${rows + index === 0 ? '' : ','}\n${JSON.stringify(Object.fromEntries(columns.map(({ name }, column) => [name, values[column]])))}`,
        )
        .join(''),
    );
    rows += chunk.length;
  }
  write('\n]}\n');
  return rows;
}

/** The first rows of an answer, for people, and whether there are more. */
export async function firstRows(
  { chunks }: QueryAnswer,
  most: number,
): Promise<{ rows: ColumnValue[][]; more: boolean }> {
  const rows: ColumnValue[][] = [];
  for await (const chunk of chunks) {
    rows.push(...chunk);
    if (rows.length > most) return { rows: rows.slice(0, most), more: true };
  }
  return { rows, more: false };
}
