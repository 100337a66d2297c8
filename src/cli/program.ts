import { Command } from 'commander';
import { packageVersion } from '../kit/files/package-files.ts';
import { typedOfferline } from '../kit/text/typed-commands.ts';
import { visibleLines } from '../kit/text/visible-text.ts';
import type { CommandContext } from './context.ts';

type AddCommands = (program: Command, context: CommandContext) => void;

/**
 * Commands by the file that adds them, in the order of the help. Loaded when asked for: the service and the delivery of
 * postbacks bring libraries with them that would make up a third of every other command's start.
 */
const groups: [commands: string[], load: () => Promise<AddCommands>][] = [
  [['run'], async () => (await import('./commands/pipelines/run.ts')).addRunCommands],
  [['backfill'], async () => (await import('./commands/pipelines/backfill.ts')).addBackfillCommands],
  [['schedule'], async () => (await import('./commands/pipelines/schedule.ts')).addScheduleCommand],
  [['serve', 'start'], async () => (await import('./commands/pipelines/serve.ts')).addServeCommands],
  [['track'], async () => (await import('./commands/pipelines/track.ts')).addTrackCommand],
  [['console'], async () => (await import('./commands/operators/console.ts')).addConsoleCommands],
  [['status'], async () => (await import('./commands/operators/status.ts')).addStatusCommand],
  [['runs'], async () => (await import('./commands/operators/runs.ts')).addRunsCommand],
  [['maintenance'], async () => (await import('./commands/pipelines/maintenance.ts')).addMaintenanceCommands],
  [['sites'], async () => (await import('./commands/operators/sites.ts')).addSitesCommands],
  [['sources'], async () => (await import('./commands/operators/sources.ts')).addSourcesCommands],
  [['offers'], async () => (await import('./commands/operators/offers.ts')).addOffersCommands],
  [['postbacks'], async () => (await import('./commands/operators/postbacks.ts')).addPostbacksCommands],
  [['pictures'], async () => (await import('./commands/pipelines/pictures.ts')).addPicturesCommand],
  [['sql'], async () => (await import('./commands/analysts/sql.ts')).addSqlCommand],
  [['export'], async () => (await import('./commands/analysts/export.ts')).addExportCommand],
  [['snapshots'], async () => (await import('./commands/analysts/snapshots.ts')).addSnapshotsCommand],
  [['diff'], async () => (await import('./commands/analysts/diff.ts')).addDiffCommand],
  [['reconcile'], async () => (await import('./commands/analysts/reconcile.ts')).addReconcileCommand],
  [['doctor', 'rebuild'], async () => (await import('./commands/operators/doctor.ts')).addDoctorCommands],
  [['backup', 'restore'], async () => (await import('./commands/operators/backup.ts')).addBackupCommands],
  [['storage'], async () => (await import('./commands/operators/storage.ts')).addStorageCommands],
  [['inspect'], async () => (await import('./commands/operators/inspect.ts')).addInspectCommand],
  [['schema'], async () => (await import('./commands/operators/schema.ts')).addSchemaCommand],
  [['generate'], async () => (await import('./commands/operators/generate.ts')).addGenerateCommand],
];

/**
 * The commands: all of them, or those of the group that the first of `words` names. Wrong usage throws commander's own
 * error, which exits 2.
 */
export async function createProgram(context: CommandContext, words: readonly string[] = []): Promise<Command> {
  const program = new Command(typedOfferline())
    .description(
      'Syncs offer catalogs, ingests clicks and conversions, publishes figures and feeds.\nThe data directory is OFFERLINE_DATA, by default data/var.',
    )
    .version(packageVersion(), '--version', 'print the version')
    // An option behind a subcommand is the subcommand's, also where the command before it has one of that name.
    .enablePositionalOptions()
    .showHelpAfterError('(add --help for what it takes)')
    .configureOutput({ writeOut: context.print, writeErr: (text) => void process.stderr.write(visibleLines(text)) })
    .exitOverride();
  // The version is asked for by scripts, which need not wait for all commands.
  if (words[0] === '--version') return program;
  const named = groups.filter(([commands]) => commands.includes(words[0] ?? ''));
  for (const [, load] of named.length > 0 ? named : groups) (await load())(program, context);
  return program;
}
