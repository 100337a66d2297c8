import type { DuckDBConnection } from '@duckdb/node-api';
import { Option, type Command } from 'commander';
import { text } from 'node:stream/consumers';
import {
  answerFormats,
  firstRows,
  writeCsv,
  writeJson,
  type AnswerFormat,
} from '../../../pipeline/analysis/answer-formats.ts';
import { findSnapshot } from '../../../pipeline/analysis/kept-snapshots.ts';
import { askSnapshot, type QueryAnswer } from '../../../pipeline/analysis/query.ts';
import { withSnapshotDatabase } from '../../../pipeline/analysis/snapshot-database.ts';
import { UsageError } from '../../../kit/errors/errors.ts';
import { visibleJson, visibleLines, visibleText } from '../../../kit/text/visible-text.ts';
import type { ColumnValue } from '../../../kit/duckdb/dialect/rows.ts';
import { showProgressWhenLong } from '../../../kit/duckdb/query-progress.ts';
import { addCommand, existingData, snapshotOption, spreadsheetOption, fieldLines, textTable } from '../../answer.ts';
import type { CommandContext } from '../../context.ts';
import { lineWidth } from '../../line-width.ts';
import { stopSignal } from '../../stop-signal.ts';

interface SqlOptions {
  snapshot?: string;
  format: AnswerFormat;
  spreadsheet?: boolean;
  json?: boolean;
}

/** Rows of a table; more is for CSV and JSON, which people do not read. */
const maxTableRows = 1000;
/** A longer cell is cut in the table: it would push all others off the screen. */
const maxCell = 80;
/** Shorter cells say too little. */
const minCell = 20;
const cellStep = 12;

export function addSqlCommand(program: Command, context: CommandContext): void {
  addCommand(program, 'sql', 'Runs one query, which only reads, on a published snapshot')
    .argument('<query>', 'query, such as "FROM offer_stats_2d ORDER BY rank LIMIT 10"; - reads it from standard input')
    .option('--snapshot <id>', snapshotOption)
    .addOption(new Option('--format <format>', 'format of the answer').choices([...answerFormats]).default('table'))
    .option('--spreadsheet', spreadsheetOption)
    .action(async (query: string, options: SqlOptions) => {
      if (options.spreadsheet && (options.json || options.format !== 'csv'))
        throw new UsageError('--spreadsheet is about CSV: add --format csv');
      const snapshot = await findSnapshot(existingData(), options.snapshot);
      const sql = query === '-' ? await text(process.stdin) : query;
      const ask = async (connection: DuckDBConnection) => {
        const answer = await showProgressWhenLong(connection, context.terminal.progress, 'querying', () =>
          askSnapshot(connection, sql),
        );
        const { snapshot_id, as_of } = snapshot.manifest;
        const printJson = (json: string) => context.print(visibleJson(json));
        if (options.json || options.format === 'json') await writeJson({ snapshot_id, as_of }, answer, printJson);
        else if (options.format === 'csv')
          await writeCsv(answer, context.print, options.spreadsheet ? 'spreadsheet' : 'program');
        else await printRows(answer, context, options.format === 'vertical');
      };
      await withSnapshotDatabase(snapshot, ask, { stop: stopSignal() });
    });
}

/** Prints a table, on a terminal with cells cut to fit; where even short ones do not, each cell has its own line. */
async function printRows(answer: QueryAnswer, { print }: CommandContext, isVertical: boolean): Promise<void> {
  const { rows, more } = await firstRows(answer, maxTableRows);
  const names = answer.columns.map(({ name }) => name);
  const rowsWith = (cell: number) =>
    rows.map((values) => Object.fromEntries(names.map((name, column) => [name, shownCell(values[column], cell)])));
  const width = process.stdout.isTTY ? lineWidth() : Infinity;
  const table = isVertical || rows.length === 0 ? undefined : fittingTable(rowsWith, width);
  // The answer to EXPLAIN is laid out in lines.
  if (names.join() === 'explain_key,explain_value') print(visibleLines(`${(rows as string[][]).flat().join('\n')}\n`));
  else if (rows.length === 0) print(`${visibleText(names.join('  '))}\n`);
  else print(`${table ?? verticalRows(rowsWith(Infinity))}\n`);
  const count = rows.length === 1 ? '1 row' : `${rows.length} rows`;
  print(more ? `(the first ${count}; --format csv or json gives all)\n` : `(${count})\n`);
}

type ShownRow = Record<string, string | number | boolean | null>;

/** A table with cells as long as fit; undefined where none does. */
function fittingTable(rowsWith: (cell: number) => ShownRow[], width: number): string | undefined {
  for (let cell = maxCell; cell >= minCell; cell -= cellStep) {
    const table = textTable(rowsWith(cell));
    if (table.split('\n').every((line) => line.length <= width)) return table;
  }
  return undefined;
}

function verticalRows(rows: readonly ShownRow[]): string {
  return rows.map((row, index) => `-- row ${index + 1}\n${fieldLines(row)}`).join('\n');
}

function shownCell(value: ColumnValue | undefined, maxLength: number): ShownRow[string] {
  if (value === undefined || value === null || typeof value === 'number' || typeof value === 'boolean')
    return value ?? null;
  const cell = typeof value === 'string' ? value : JSON.stringify(value);
  return cell.length > maxLength ? `${cell.slice(0, maxLength - 1)}…` : cell;
}
