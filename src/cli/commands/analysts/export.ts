import { Option, type Command } from 'commander';
import { createWriteStream } from 'node:fs';
import { mkdtemp, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { exportFormats, exportTable, type ExportFormat } from '../../../pipeline/analysis/export-table.ts';
import { findSnapshot, type KeptSnapshot } from '../../../pipeline/analysis/kept-snapshots.ts';
import { withSnapshotDatabase } from '../../../pipeline/analysis/snapshot-database.ts';
import { wholeSnapshot } from '../../../pipeline/analysis/whole-snapshot.ts';
import { realEffects } from '../../../kit/files/effects.ts';
import { OfferlineError, UsageError } from '../../../kit/errors/errors.ts';
import { showProgressWhenLong } from '../../../kit/duckdb/query-progress.ts';
import { addCommand, printAnswer, existingData, snapshotOption, spreadsheetOption } from '../../answer.ts';
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

/** Writes a file beside its place, which it takes once it is whole. */
async function exportWhole(snapshot: KeptSnapshot, options: ExportOptions, context: CommandContext): Promise<void> {
  const { snapshot_id, as_of, files } = snapshot.manifest;
  const { files: effects } = realEffects;
  const bytes = Object.values(files).reduce((sum, file) => sum + file.bytes, 0);
  const copy = (to: Writable) => {
    const { progress } = context.terminal;
    progress.start('packing megabytes', Math.ceil(bytes / 1e6));
    let written = 0;
    // Held open, it is not retired meanwhile.
    return withSnapshotDatabase(snapshot, async () => {
      try {
        await pipeline(
          wholeSnapshot(snapshot, (more) => progress.advance(Math.floor((written += more) / 1e6))),
          to,
          { end: to !== process.stdout, signal: stopSignal() },
        );
      } finally {
        progress.finish();
      }
    });
  };
  if (options.out === '-') {
    if (options.json) throw new UsageError('--json and --out - both print to standard output; name a file');
    if (process.stdout.isTTY) throw new UsageError('a tar is nothing to look at; name a file with --out');
    return copy(process.stdout);
  }
  const file = resolve(options.out ?? `${snapshot_id}.tar`);
  const part = `${file}.part`;
  try {
    await copy(createWriteStream(part));
    await effects.syncFile(part, 'export: fsynced');
    await effects.rename(part, file, 'export: renamed');
  } catch (error) {
    if (error instanceof OfferlineError) throw error;
    throw new OfferlineError(`${snapshot_id} could not be exported: ${(error as Error).message}`, undefined, {
      cause: error,
    });
  } finally {
    await effects.remove(part, 'export: unfinished file removed');
  }
  const count = Object.keys(files).length;
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
  const toStandardOutput = options.out === '-';
  if (toStandardOutput && options.json)
    throw new UsageError('--json and --out - both print to standard output; name a file');
  if (toStandardOutput && options.format === 'parquet' && process.stdout.isTTY)
    throw new UsageError('Parquet is nothing to look at; name a file with --out');
  const file = resolve(options.out ?? `${table}.${options.format}`);
  // DuckDB cannot write to every kind of standard output, so it writes a file that is passed on.
  const folder = toStandardOutput ? await mkdtemp(join(tmpdir(), 'offerline-export-')) : undefined;
  const part = folder === undefined ? `${file}.part` : join(folder, table);
  const { files } = realEffects;
  try {
    const rows = await withSnapshotDatabase(
      snapshot,
      (connection) =>
        showProgressWhenLong(connection, context.terminal.progress, `exporting ${table}`, () =>
          exportTable(connection, table, part, options.spreadsheet ? 'spreadsheet' : options.format),
        ),
      { writable: [part], stop: stopSignal() },
    );
    if (folder !== undefined) {
      const copy = await open(part);
      // Read on without a name: nothing is left behind where nobody reads to the end.
      await files.remove(folder, 'export: file for standard output removed');
      return await pipeline(copy.createReadStream(), process.stdout, { end: false });
    }
    await files.syncFile(part, 'export: fsynced');
    await files.rename(part, file, 'export: renamed');
    const { snapshot_id, as_of } = snapshot.manifest;
    printAnswer(
      context,
      options,
      { snapshot_id, as_of, table, rows, file },
      `${file}: ${rows} rows of ${table}, as of ${as_of}`,
    );
  } catch (error) {
    if (error instanceof OfferlineError) throw error;
    throw new OfferlineError(`${table} could not be exported: ${(error as Error).message}`, undefined, {
      cause: error,
    });
  } finally {
    await files.remove(folder ?? part, 'export: unfinished file removed');
  }
}
