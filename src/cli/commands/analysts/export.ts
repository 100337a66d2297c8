import { Option, type Command } from 'commander';
import { createWriteStream } from 'node:fs';
import { mkdtemp, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { exportFormats, exportTable, type ExportFormat } from '../../../pipeline/analysis/export-table.ts';
import { findSnapshot, type KeptSnapshot } from '../../../pipeline/analysis/kept-snapshots.ts';
import { withSnapshotDatabase } from '../../../pipeline/analysis/snapshot-database.ts';
import { wholeSnapshot } from '../../../pipeline/analysis/whole-snapshot.ts';
import { realEffects } from '../../../kit/files/effects.ts';
import { OfferlineError, UsageError } from '../../../kit/errors/errors.ts';
import { showProgressWhenLong } from '../../../kit/duckdb/query-progress.ts';
import {
  addCommand,
  printAnswer,
  existingData,
  replaceableFile,
  snapshotOption,
  spreadsheetOption,
} from '../../answer.ts';
import type { CommandContext } from '../../context.ts';
import { stopSignal } from '../../stop-signal.ts';

interface ExportOptions {
  format?: ExportFormat;
  whole?: boolean;
  out?: string;
  snapshot?: string;
  spreadsheet?: boolean;
  json?: boolean;
}

export function addExportCommand(program: Command, context: CommandContext): void {
  addCommand(program, 'export', "Copies a whole table of the analysts' file, or a whole snapshot for somebody else")
    .argument('[table]', 'name of the table, such as clicks')
    .addOption(new Option('--format <format>', 'format of the copy of a table').choices([...exportFormats]))
    .option('--whole', 'all files of the snapshot as a tar; its README.txt says how to open them elsewhere')
    .option(
      '--out <file>',
      'file to write, replaced once the copy is whole; - is standard output (default: table.format, or the id of the snapshot and .tar, in this folder)',
    )
    .option('--snapshot <id>', snapshotOption)
    .option('--spreadsheet', spreadsheetOption)
    .action(async (table: string | undefined, options: ExportOptions) => {
      const snapshot = await findSnapshot(existingData(), options.snapshot);
      if (options.whole) {
        if (table !== undefined || options.format !== undefined || options.spreadsheet)
          throw new UsageError('--whole copies all tables as they are: leave the table and its format out');
        return exportWhole(snapshot, options, context);
      }
      if (table === undefined || options.format === undefined)
        throw new UsageError(
          `name a table and --format ${exportFormats.join(' or ')}, or say --whole for the whole snapshot`,
        );
      return exportOne(snapshot, table, { ...options, format: options.format }, context);
    });
}

/** Packs a snapshot with all its files. */
async function exportWhole(snapshot: KeptSnapshot, options: ExportOptions, context: CommandContext): Promise<void> {
  const { progress } = context.terminal;
  const { snapshot_id, as_of, files } = snapshot.manifest;
  const count = Object.keys(files).length;
  const bytes = Object.values(files).reduce((sum, file) => sum + file.bytes, 0);
  const pack = (to: Writable) => {
    progress.start('packing megabytes', Math.ceil(bytes / 1e6));
    let written = 0;
    // Held open, it is not retired meanwhile.
    return withSnapshotDatabase(snapshot, async () => {
      try {
        const archive = wholeSnapshot(snapshot, (more) => progress.advance(Math.floor((written += more) / 1e6)));
        await pipeline(archive, to, { end: to !== process.stdout, signal: stopSignal() });
      } finally {
        progress.finish();
      }
    });
  };
  if (toStandardOutput(options, 'a tar')) return pack(process.stdout);
  const file = replaceableFile(options.out ?? `${snapshot_id}.tar`);
  await writeInPlace(file, snapshot_id, (part) => pack(createWriteStream(part)));
  printAnswer(
    context,
    options,
    { snapshot_id, as_of, files: count, bytes, file },
    `${file}: snapshot ${snapshot_id} with ${count} files, as of ${as_of}; its README.txt says how to open it`,
  );
}

async function exportOne(
  snapshot: KeptSnapshot,
  table: string,
  options: ExportOptions & { format: ExportFormat },
  context: CommandContext,
): Promise<void> {
  if (options.spreadsheet && options.format !== 'csv')
    throw new UsageError('--spreadsheet is about CSV: say --format csv');
  const copy = (to: string) =>
    withSnapshotDatabase(
      snapshot,
      (connection) =>
        showProgressWhenLong(connection, context.terminal.progress, `exporting ${table}`, () =>
          exportTable(connection, table, to, options.spreadsheet ? 'spreadsheet' : options.format),
        ),
      { writable: [to], stop: stopSignal() },
    );
  if (toStandardOutput(options, options.format === 'parquet' ? 'Parquet' : undefined))
    return named(table, () => passOn(table, copy));
  const file = replaceableFile(options.out ?? `${table}.${options.format}`);
  const rows = await writeInPlace(file, table, copy);
  const { snapshot_id, as_of } = snapshot.manifest;
  printAnswer(
    context,
    options,
    { snapshot_id, as_of, table, rows, file },
    `${file}: ${rows} rows of ${table}, as of ${as_of}`,
  );
}

/** Returns whether the copy is printed. Throws `UsageError` where it cannot be. `binary`: what no terminal shows. */
function toStandardOutput({ out, json }: ExportOptions, binary: string | undefined): boolean {
  if (out !== '-') return false;
  if (json) throw new UsageError('--json and --out - both print to standard output; name a file');
  if (binary !== undefined && process.stdout.isTTY)
    throw new UsageError(`${binary} is nothing to look at; name a file with --out`);
  return true;
}

/** Writes a copy beside its place, which it takes once it is whole. `what` is named in errors. */
function writeInPlace<Written>(
  file: string,
  what: string,
  write: (part: string) => Promise<Written>,
): Promise<Written> {
  const { files } = realEffects;
  const part = `${file}.part`;
  return named(what, async () => {
    try {
      const written = await write(part);
      await files.syncFile(part, 'export: fsynced');
      await files.rename(part, file, 'export: renamed');
      return written;
    } finally {
      await files.remove(part, 'export: unfinished file removed');
    }
  });
}

/** Prints a copy. DuckDB cannot write to every kind of standard output, so it writes a file that is passed on. */
async function passOn(table: string, write: (file: string) => Promise<unknown>): Promise<void> {
  const { files } = realEffects;
  const folder = await mkdtemp(join(tmpdir(), 'offerline-export-'));
  try {
    const file = join(folder, table);
    await write(file);
    const copy = await open(file);
    // Read on without a name: nothing is left behind where nobody reads to the end.
    await files.remove(folder, 'export: file for standard output removed');
    await pipeline(copy.createReadStream(), process.stdout, { end: false });
  } finally {
    await files.remove(folder, 'export: unfinished file removed');
  }
}

/** Names in errors of the disk and of DuckDB what could not be exported. */
async function named<Done>(what: string, work: () => Promise<Done>): Promise<Done> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof OfferlineError) throw error;
    throw new OfferlineError(`${what} could not be exported: ${(error as Error).message}`, undefined, { cause: error });
  }
}
