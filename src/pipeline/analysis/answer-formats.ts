import { csvRow, type CsvReader } from '../../kit/text/csv.ts';
import type { ColumnValue } from '../../kit/duckdb/dialect/rows.ts';
import type { QueryAnswer } from './query.ts';

export const answerFormats = ['table', 'vertical', 'csv', 'json'] as const;
export type AnswerFormat = (typeof answerFormats)[number];

/** Streams an answer as CSV with a header row. Resolves to the number of rows. */
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

/** Streams one JSON document: `about`'s fields, `columns` with their types, and `rows`, one object a line. */
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

/** Returns the first rows of an answer, and whether there are more. */
export async function firstRows(
  { chunks }: QueryAnswer,
  max: number,
): Promise<{ rows: ColumnValue[][]; more: boolean }> {
  const rows: ColumnValue[][] = [];
  for await (const chunk of chunks) {
    rows.push(...chunk);
    if (rows.length > max) return { rows: rows.slice(0, max), more: true };
  }
  return { rows, more: false };
}
