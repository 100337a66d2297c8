import { Option, type Command } from 'commander';
import { addSite } from '../../../kit/sites/add-site.ts';
import { readSites, type Site } from '../../../kit/sites/sites.ts';
import { addCommand, printAnswer, existingData, fieldLines, textTable } from '../../answer.ts';
import type { CommandContext } from '../../context.ts';
import { addSiteChanges } from './change-sites.ts';

export function addSitesCommands(program: Command, context: CommandContext): void {
  const sites = program.command('sites').description('Publisher sites of sites.json.');
  addCommand(sites, 'list', 'Lists sites without their secrets').action((options: { json?: boolean }) => {
    const { sites: known, warnings } = readSites(existingData().sitesFile);
    for (const warning of warnings) context.terminal.logger.warn(warning);
    const shown = known.map(
      ({ site_key, name, status, variant, commission, reward_rate, rate_limit_per_hour, postback }) => ({
        site_key,
        name,
        status,
        variant,
        commission,
        reward_rate,
        rate_limit_per_hour,
        postback: postback?.method ?? null,
      }),
    );
    const document = shown.map((site, place) => ({
      ...site,
      commissions: known[place]?.commissions ?? [],
      offers: known[place]?.offers ?? {},
    }));
    printAnswer(context, options, { sites: document }, textTable(shown));
  });
  addCommand(sites, 'add', 'Adds a site with a new secret of 32 random bytes, which is printed once')
    .argument('<site_key>', 'public name of the site')
    .option('--name <text>', 'name for people')
    .addOption(new Option('--variant <variant>', 'variant of the publisher API').choices(['A', 'B', 'C']).default('C'))
    .option('--pending', 'the site is not approved yet')
    .option('--postback <address>', 'address that postbacks are sent to, over http or https')
    .addOption(
      new Option('--postback-method <method>', 'sends the fields as JSON (POST), or fills macros of the address (GET)')
        .choices(['POST', 'GET'])
        .default('POST'),
    )
    .action(
      async (
        site_key: string,
        options: {
          name?: string;
          variant: Site['variant'];
          pending?: boolean;
          postback?: string;
          postbackMethod: 'POST' | 'GET';
          json?: boolean;
        },
      ) => {
        const { name, variant, pending, postback: url, postbackMethod: method } = options;
        const site_secret = await addSite(existingData().sitesFile, {
          site_key,
          variant,
          status: pending ? 'pending' : 'active',
          ...(name === undefined ? {} : { name }),
          ...(url === undefined ? {} : { postback: { url, method } }),
        });
        printAnswer(context, options, { site_key, site_secret }, fieldLines({ site_key, site_secret }));
      },
    );
  addSiteChanges(sites, context);
}
