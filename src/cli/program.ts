import { Command } from 'commander';
import { packageVersion } from '../kit/files/package-files.ts';
import { typedOfferline } from '../kit/text/typed-commands.ts';
import { visibleLines } from '../kit/text/visible-text.ts';
import type { CommandContext } from './context.ts';

type AddCommands = (program: Command, context: CommandContext) => void;

/**
 * Commands by the file that adds them, in the order of the help, under headings that say when they are needed. Loaded
 * when asked for: the service and the delivery of postbacks bring libraries with them that would make up a third of
 * every other command's start.
 */
const groups: [heading: string, commands: string[], load: () => Promise<AddCommands>][] = [
  ['Every day', ['run'], async () => (await import('./commands/pipelines/run.ts')).addRunCommands],
  ['Every day', ['status'], async () => (await import('./commands/operators/status.ts')).addStatusCommand],
  ['Every day', ['runs'], async () => (await import('./commands/operators/runs.ts')).addRunsCommand],
  ['Every day', ['offers'], async () => (await import('./commands/operators/offers.ts')).addOffersCommands],
  ['Every day', ['postbacks'], async () => (await import('./commands/operators/postbacks.ts')).addPostbacksCommands],
  ['Set up', ['inspect'], async () => (await import('./commands/operators/inspect.ts')).addInspectCommand],
  ['Set up', ['sites'], async () => (await import('./commands/operators/sites.ts')).addSitesCommands],
  ['Set up', ['sources'], async () => (await import('./commands/operators/sources.ts')).addSourcesCommands],
  ['Set up', ['schema'], async () => (await import('./commands/operators/schema.ts')).addSchemaCommand],
  ['Set up', ['generate'], async () => (await import('./commands/operators/generate.ts')).addGenerateCommand],
  ['Serve', ['serve', 'start'], async () => (await import('./commands/pipelines/serve.ts')).addServeCommands],
  ['Serve', ['schedule'], async () => (await import('./commands/pipelines/schedule.ts')).addScheduleCommand],
  ['Serve', ['track'], async () => (await import('./commands/pipelines/track.ts')).addTrackCommand],
  ['Serve', ['console'], async () => (await import('./commands/operators/console.ts')).addConsoleCommands],
  ['Serve', ['pictures'], async () => (await import('./commands/pipelines/pictures.ts')).addPicturesCommand],
  ['Analyse', ['sql'], async () => (await import('./commands/analysts/sql.ts')).addSqlCommand],
  ['Analyse', ['export'], async () => (await import('./commands/analysts/export.ts')).addExportCommand],
  ['Analyse', ['snapshots'], async () => (await import('./commands/analysts/snapshots.ts')).addSnapshotsCommand],
  ['Analyse', ['diff'], async () => (await import('./commands/analysts/diff.ts')).addDiffCommand],
  ['Analyse', ['reconcile'], async () => (await import('./commands/analysts/reconcile.ts')).addReconcileCommand],
  ['Analyse', ['mcp'], async () => (await import('./commands/analysts/mcp.ts')).addMcpCommand],
  [
    'Repair and keep',
    ['doctor', 'rebuild'],
    async () => (await import('./commands/operators/doctor.ts')).addDoctorCommands,
  ],
  [
    'Repair and keep',
    ['backup', 'restore'],
    async () => (await import('./commands/operators/backup.ts')).addBackupCommands,
  ],
  ['Repair and keep', ['storage'], async () => (await import('./commands/operators/storage.ts')).addStorageCommands],
  ['Repair and keep', ['backfill'], async () => (await import('./commands/pipelines/backfill.ts')).addBackfillCommands],
  [
    'Repair and keep',
    ['maintenance'],
    async () => (await import('./commands/pipelines/maintenance.ts')).addMaintenanceCommands,
  ],
];

/**
 * The commands: all of them, or those of the group that the first of `words` names; their names alone where none is
 * named. Wrong usage throws commander's own error, which exits 2.
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
  const known = groups.flatMap(([, commands]) => commands);
  const isAsked = (word: string) => known.includes(word) || /^(help$|--help|-h)/.test(word);
  // What can only be refused needs the names alone, one of which may be meant: all commands take most of a second.
  if (words.length > 0 && !words.some(isAsked)) {
    for (const name of known) program.command(name);
    return program;
  }
  const named = groups.filter(([, commands]) => commands.includes(words[0] ?? ''));
  for (const [heading, , load] of named.length > 0 ? named : groups) {
    program.commandsGroup(`${heading}:`);
    (await load())(program, context);
  }
  return program;
}
