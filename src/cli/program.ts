import { Command } from 'commander';
import { visibleLines } from '../text/visible-text.ts';
import { addBackfillCommands } from './commands/backfill.ts';
import { addDoctorCommands } from './commands/doctor.ts';
import { addGenerateCommand } from './commands/generate.ts';
import { addOffersCommands } from './commands/offers.ts';
import { addPostbacksCommands } from './commands/postbacks.ts';
import { addReconcileCommand } from './commands/reconcile.ts';
import { addRunCommands } from './commands/run.ts';
import { addMaintenanceCommands } from './commands/maintenance.ts';
import { addRunsCommand } from './commands/runs.ts';
import { addScheduleCommand } from './commands/schedule.ts';
import { addServeCommands } from './commands/serve.ts';
import { addSitesCommands } from './commands/sites.ts';
import { addStatusCommand } from './commands/status.ts';
import { addDiffCommand } from './commands/diff.ts';
import { addExportCommand } from './commands/export.ts';
import { addSnapshotsCommand } from './commands/snapshots.ts';
import { addSqlCommand } from './commands/sql.ts';
import type { CommandContext } from './context.ts';

/** All commands. Wrong usage throws commander's own error, which exits 2. */
export function createProgram(context: CommandContext): Command {
  const program = new Command('offerline')
    .description(
      'Offer catalog sync and analytics pipeline with a small read API.\nThe data directory is OFFERLINE_DATA, by default data/var.',
    )
    .showHelpAfterError('(add --help for what it takes)')
    .configureOutput({ writeOut: context.print, writeErr: (text) => void process.stderr.write(visibleLines(text)) })
    .exitOverride();
  addRunCommands(program, context);
  addBackfillCommands(program, context);
  addScheduleCommand(program, context);
  addServeCommands(program, context);
  addStatusCommand(program, context);
  addRunsCommand(program, context);
  addMaintenanceCommands(program, context);
  addSitesCommands(program, context);
  addOffersCommands(program, context);
  addPostbacksCommands(program, context);
  addSqlCommand(program, context);
  addExportCommand(program, context);
  addSnapshotsCommand(program, context);
  addDiffCommand(program, context);
  addReconcileCommand(program, context);
  addDoctorCommands(program, context);
  addGenerateCommand(program, context);
  return program;
}
