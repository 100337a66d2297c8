import { z } from 'zod';
import { defineTool, snapshotParameter } from '../tool.ts';

const maxRows = 1_000;

/** One SELECT of the assistant's own. */
export const queryTool = defineTool({
  name: 'query',
  title: 'One SELECT over a snapshot',
  description:
    'Runs one SELECT (DuckDB SQL) on a published snapshot, read-only, with no other file, database or network in reach. ' +
    'Call `tables` first for names and meanings, and `figures` for how a figure is defined. Sums are exact decimals, given as text: copy them, do not round. ' +
    'Times are UTC; in SQL write them as TIMESTAMPTZ \'2026-11-01T00:00:00Z\'. "Today" and "yesterday" are days of as_of, not of your clock.',
  input: z.strictObject({
    sql: z.string().min(1).max(50_000).describe('One SELECT, FROM, WITH, DESCRIBE, SUMMARIZE, SHOW or EXPLAIN'),
    max_rows: z.int().min(1).max(maxRows).default(100).describe(`Rows of the answer, at most ${maxRows}`),
    snapshot: snapshotParameter,
  }),
  async answer({ sql, max_rows }, asked) {
    const { columns, found } = await asked.query(sql, max_rows);
    return { columns, ...found };
  },
});
