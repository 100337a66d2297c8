import type { Command } from 'commander';
import { readSites } from '../../sites/sites.ts';
import { addCommand, answer, existingData, table } from '../answer.ts';
import type { CommandContext } from '../context.ts';

export function addSitesCommands(program: Command, context: CommandContext): void {
  const sites = program.command('sites').description('publisher sites of sites.json');
  addCommand(sites, 'list', 'all sites, without their secrets').action((options: { json?: boolean }) => {
    const { sites: known, warnings } = readSites(existingData().sitesFile);
    for (const warning of warnings) context.console.logger.warn(warning);
    const shown = known.map(({ site_key, name, status, variant, commission, reward_rate, rate_limit_per_hour, postback }) => ({
      site_key, name, status, variant, commission, reward_rate, rate_limit_per_hour, postback: postback?.method ?? null,
    }));
    answer(context, options, { sites: shown }, table(shown));
  });
}
