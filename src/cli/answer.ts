import type { Command } from 'commander';
import { InvalidArgumentError } from 'commander';
import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { DataDirectory } from '../kit/config/data-directory.ts';
import { UsageError } from '../kit/errors/errors.ts';
import { assertRestored } from '../pipeline/backup/unfinished-restore.ts';
import { withTypedCommands } from '../kit/text/typed-commands.ts';
import { visibleJson, visibleLines, visibleText } from '../kit/text/visible-text.ts';
import type { CommandContext } from './context.ts';

/**
 * Adds a command with `--json`, which ends on wrong usage as its parent does. Lists show `summary`; the command's own
 * help and `src/cli/commands.md` add `details`.
 */
export function addCommand(parent: Command, nameAndArguments: string, summary: string, details?: string): Command {
  return parent
    .command(nameAndArguments)
    .summary(summary)
    .description(details === undefined ? `${summary}.` : `${summary}. ${details}`)
    .option('--json', 'print one JSON document on standard output');
}

/** Help of an option of each command that reads a snapshot. */
export const snapshotOption =
  'id of a kept snapshot (`snapshots` lists them) or its beginning, or a moment such as 2026-11-01T12:00:00Z for the newest as of then or before (default: the current one)';
/** Help of an option of each command that writes CSV. */
export const spreadsheetOption =
  'put an apostrophe before each text in the CSV that a spreadsheet would run as a formula; numbers stay';

/** Prints an answer: one JSON document, or text for people. */
export function printAnswer(
  { print }: CommandContext,
  options: { json?: boolean },
  document: unknown,
  text: string,
): void {
  print(
    options.json ? `${visibleJson(JSON.stringify(document, null, 2))}\n` : `${visibleLines(withTypedCommands(text))}\n`,
  );
}

type Cell = string | number | boolean | null;

/** A name and its value on each line. */
export function fieldLines(fields: Record<string, Cell>): string {
  const width = Math.max(...Object.keys(fields).map(({ length }) => length));
  const lines = Object.entries(fields).map(
    ([name, value]) => `${name.padEnd(width)}  ${visibleText(String(value ?? '-'))}`,
  );
  return lines.join('\n');
}

/** Columns as wide as their widest cell; numbers to the right. */
export function textTable(rows: Record<string, Cell>[]): string {
  const names = Object.keys(rows[0] ?? {});
  if (names.length === 0) return '(none)';
  const heads = names.map(visibleText);
  const cells = rows.map((row) => names.map((name) => visibleText(String(row[name] ?? '-'))));
  const widths = heads.map(({ length }, column) =>
    cells.reduce((widest, row) => Math.max(widest, (row[column] as string).length), length),
  );
  const areNumbers = names.map((name) => rows.every((row) => typeof row[name] === 'number'));
  const line = (texts: string[]) =>
    texts
      .map((text, column) =>
        areNumbers[column] ? text.padStart(widths[column] as number) : text.padEnd(widths[column] as number),
      )
      .join('  ')
      .trimEnd();
  return [heads, ...cells].map(line).join('\n');
}

/** The data directory, which must be there and whole. Throws `UsageError` saying how to get one. */
export function existingData(): DataDirectory {
  const data = DataDirectory.fromEnvironment();
  if (!existsSync(data.root)) {
    throw new UsageError(
      `${data.root} does not exist: make it by mkdir -p, set OFFERLINE_DATA to another directory, or run \`offerline start --demo\` for a demo network`,
    );
  }
  assertRestored(data);
  return data;
}

/**
 * The path of a file that an option names and a whole copy takes the place of. Throws `UsageError` where a folder, a
 * device or a pipe is there: the device would be gone.
 */
export function replaceableFile(path: string): string {
  const file = resolve(path);
  const there = statSync(file, { throwIfNoEntry: false });
  if (there?.isDirectory()) throw new UsageError(`--out ${path} is a folder: name a file in it`);
  if (there?.isFile() === false)
    throw new UsageError(`--out ${path} is no regular file, and would be replaced by one: name another place`);
  return file;
}

/** Reads a whole number option or argument. Commander prints its error with the option's name. */
export function wholeNumber(least: number, most = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= least && value <= most)) {
      throw new InvalidArgumentError(`It takes a whole number from ${least} to ${most}.`);
    }
    return value;
  };
}
