import { Command } from 'commander';
import { addGenerateCommand } from './commands/generate.ts';
import { addOffersCommands } from './commands/offers.ts';
import { addRunCommands } from './commands/run.ts';
import { addServeCommands } from './commands/serve.ts';
import { addSitesCommands } from './commands/sites.ts';
import { addStatusCommand } from './commands/status.ts';
import type { CommandContext } from './context.ts';

/** All commands. Wrong usage throws commander's own error, which exits 2. */
export function createProgram(context: CommandContext): Command {
  const program = new Command('offerline')
    .description('Offer catalog sync and analytics pipeline with a small read API.\nThe data directory is OFFERLINE_DATA, by default data/var.')
    .showHelpAfterError('(add --help for what it takes)')
    .configureOutput({ writeOut: context.print, writeErr: (text) => void process.stderr.write(text) })
    .exitOverride();
  addRunCommands(program, context);
  addServeCommands(program, context);
  addStatusCommand(program, context);
  addSitesCommands(program, context);
  addOffersCommands(program, context);
  addGenerateCommand(program, context);
  return program;
}
