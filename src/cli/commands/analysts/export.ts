import { Option, type Command } from 'commander';
import { mkdtemp, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { exportFormats, exportTable, type ExportFormat } from '../../../pipeline/analysis/export-table.ts';
import { findSnapshot } from '../../../pipeline/analysis/kept-snapshots.ts';
import { withSnapshotDatabase } from '../../../pipeline/analysis/snapshot-database.ts';
import { realEffects } from '../../../kit/files/effects.ts';
import { OfferlineError, UsageError } from '../../../kit/errors/errors.ts';
import { showProgressWhenLong } from '../../../kit/duckdb/query-progress.ts';
import { addCommand, printAnswer, existingData, snapshotOption, spreadsheetOption } from '../../answer.ts';
import type { CommandContext } from '../../context.ts';
import { stopSignal } from '../../stop-signal.ts';

interface ExportOptions {
  format: ExportFormat;
  out?: string;
  snapshot?: string;
  spreadsheet?: boolean;
  json?: boolean;
}

export function addExportCommand(program: Command, context: CommandContext): void {
  addCommand(program, 'export', "Copies a whole table of the analysts' file")
    .argument('<table>', 'name of the table, such as clicks')
    .addOption(new Option('--format <format>', 'format of the copy').choices([...exportFormats]).makeOptionMandatory())
    .option(
      '--out <file>',
      'file to write, replaced once the copy is whole; - is standard output (default: table.format in this folder)',
    )
    .option('--snapshot <id>', snapshotOption)
    .option('--spreadsheet', spreadsheetOption)
    .action(async (table: string, options: ExportOptions) => {
      if (options.spreadsheet && options.format !== 'csv')
        throw new UsageError('--spreadsheet is about CSV: say --format csv');
      const snapshot = await findSnapshot(existingData(), options.snapshot);
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
    });
}
