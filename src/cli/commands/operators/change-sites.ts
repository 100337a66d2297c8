import { InvalidArgumentError, Option, type Command } from 'commander';
import { changeSite, type SiteChanges } from '../../../kit/sites/change-site.ts';
import { editSites, writtenSite, type WrittenSite } from '../../../kit/sites/edit-sites.ts';
import type { OfferSelector } from '../../../kit/sites/offer-rules.ts';
import { rotateSecret } from '../../../kit/sites/rotate-secret.ts';
import { parseSelector, selectorText } from '../../../kit/sites/selector-text.ts';
import { readSites } from '../../../kit/sites/sites.ts';
import { UsageError } from '../../../kit/errors/errors.ts';
import { realEffects } from '../../../kit/files/effects.ts';
import { publishedNames } from '../../../pipeline/feed/catalog-names.ts';
import { unmatchedRules } from '../../../pipeline/feed/unmatched-rules.ts';
import { addCommand, printAnswer, existingData, fieldLines, textTable } from '../../answer.ts';
import type { CommandContext } from '../../context.ts';

interface Common {
  dryRun?: boolean;
  json?: boolean;
}

interface SetOptions extends Common {
  name?: string;
  commission?: number;
  commissionOf?: NonNullable<SiteChanges['commissions']>[number][];
  allow?: OfferSelector[];
  deny?: OfferSelector[];
  remove?: OfferSelector[];
  postback?: string;
  postbackMethod?: 'GET' | 'POST';
}

const dryRun = 'show what would be changed; change nothing';
const takenUp = 'Feeds follow with the next refresh, clicks, status and secrets within seconds';

/** Adds the commands that change a site of `sites.json`. */
export function addSiteChanges(sites: Command, context: CommandContext): void {
  addSet(sites, context);
  addStatusChanges(sites, context);
  addRotate(sites, context);
}

function addSet(sites: Command, context: CommandContext): void {
  addCommand(
    sites,
    'set',
    'Changes commission, rules for offers, address or name of a site',
    `Offers are named \`offer:<id>\`, \`source:<name>\`, \`category:<name>\` or \`format:<name>\`; commissions are by offer or source only. Options that take several may be repeated. ${takenUp}`,
  )
    .argument('<site_key>', 'site of sites.json')
    .option('--name <text>', 'name for people')
    .option('--commission <share>', 'part of the payout that the network keeps, from 0 to 1', share)
    .option(
      '--commission-of <offers=share>',
      'commission of some offers, such as source:north=0.3; `source:north=none` takes it out',
      severally(commissionOf),
    )
    .option(
      '--allow <offers>',
      'adds to the offers that the site may have; without any it may have all',
      severally(parseSelector),
    )
    .option('--deny <offers>', 'adds to the offers that it may not have', severally(parseSelector))
    .option('--remove <offers>', 'takes these out of both lists', severally(parseSelector))
    .option('--postback <address>', 'address that postbacks are sent to, over http or https; `none` takes it out')
    .addOption(
      new Option('--postback-method <method>', 'as of `sites add`; by default that of the address before').choices([
        'POST',
        'GET',
      ]),
    )
    .option('--dry-run', dryRun)
    .action(async (siteKey: string, options: SetOptions) => {
      const { name, commission, commissionOf: commissions = [], allow = [], deny = [], remove = [] } = options;
      await change(context, siteKey, options, (site) =>
        changeSite(site, { name, commission, commissions, allow, deny, remove, postback: postbackOf(site, options) }),
      );
    });
}

function addStatusChanges(sites: Command, context: CommandContext): void {
  for (const [command, status, summary, details] of [
    ['approve', 'active', 'Opens the feeds of a site that is pending or paused', ''],
    [
      'pause',
      'paused',
      'Closes the feeds of a site and refuses its clicks, until `sites approve`',
      'What it has earned is still sent to it',
    ],
  ] as const)
    addCommand(sites, command, summary, details || undefined)
      .argument('<site_key>', 'site of sites.json')
      .option('--dry-run', dryRun)
      .action(async (siteKey: string, options: Common) => {
        await change(context, siteKey, options, (site) => changeSite(site, { status }));
      });
}

function addRotate(sites: Command, context: CommandContext): void {
  addCommand(
    sites,
    'rotate',
    'Gives a site a new secret, which is printed once',
    'For a day the one before opens the feeds as well, and bodies of postbacks are signed with both; a GET, and `signature`, by the new one at once',
  )
    .argument('<site_key>', 'site of sites.json')
    .option('--now', 'the secret before ends at once, as where somebody else has it')
    .option('--hide', 'do not print the new secret; sites.json has it')
    .option('--dry-run', dryRun)
    .action(async (siteKey: string, options: Common & { now?: boolean; hide?: boolean }) => {
      const endsNow = options.now ?? false;
      const { site_secret, until } = await editSites(
        existingData().sitesFile,
        (written) => {
          const site = writtenSite(written, siteKey);
          const secret = rotateSecret(site, realEffects.now(), { endsNow });
          return { site_secret: secret, until: (site['previous_secret_until'] as string | undefined) ?? null };
        },
        realEffects.files,
        options,
      );
      const about = { site_key: siteKey, previous_secret_until: until };
      if (options.dryRun)
        return printAnswer(
          context,
          options,
          { dry_run: true, site_key: siteKey, ends_now: endsNow },
          rotation(siteKey, endsNow),
        );
      const answer = options.hide ? about : { ...about, site_secret };
      printAnswer(context, options, answer, fieldLines(answer));
    });
}

function rotation(siteKey: string, endsNow: boolean): string {
  return `${siteKey} would get a new secret; the one of now would end ${endsNow ? 'at once' : 'a day later'}`;
}

/** Changes a site, and prints what that changes. */
async function change(
  context: CommandContext,
  siteKey: string,
  options: Common,
  edit: (site: WrittenSite) => void,
): Promise<void> {
  const data = existingData();
  const { before, after } = await editSites(
    data.sitesFile,
    (written) => {
      const site = writtenSite(written, siteKey);
      const was = shownSite(site);
      edit(site);
      return { before: was, after: shownSite(site) };
    },
    realEffects.files,
    options,
  );
  const changes = Object.keys(after).flatMap((key) =>
    before[key] === after[key] ? [] : [{ key, before: before[key] ?? null, after: after[key] ?? null }],
  );
  if (!options.dryRun) await warnOfUnmatched(context, data, siteKey);
  printAnswer(
    context,
    options,
    { ...(options.dryRun && { dry_run: true }), site_key: siteKey, changes },
    changes.length === 0 ? 'nothing changes' : textTable(changes),
  );
}

/** A name that no offer has may be a slip of the pen, or that of a source whose offers have yet to come. */
async function warnOfUnmatched(
  { terminal }: CommandContext,
  { current, sitesFile }: ReturnType<typeof existingData>,
  siteKey: string,
): Promise<void> {
  const site = readSites(sitesFile).sites.find(({ site_key }) => site_key === siteKey);
  if (site?.offers === undefined && site?.commissions === undefined) return;
  const names = await publishedNames(current);
  if (names === undefined) return;
  for (const { path, message } of unmatchedRules(site, names)) terminal.logger.warn(`${path.join('.')} ${message}`);
}

/** What people are shown of a site: of its address, which may hold credentials, only the host. */
function shownSite(site: WrittenSite): Record<string, string | undefined> {
  const {
    name,
    status = 'active',
    commission = 0,
    commissions = [],
    offers = {},
    postback,
  } = site as {
    name?: string;
    status?: string;
    commission?: number;
    commissions?: (OfferSelector & { commission: number })[];
    offers?: { allow?: OfferSelector[]; deny?: OfferSelector[] };
    postback?: { url: string; method?: string };
  };
  const listed = (selectors: OfferSelector[] | undefined) => selectors?.map(selectorText).join(', ');
  return {
    name,
    status,
    commission: String(commission),
    commissions: commissions.map(({ commission: own, ...of }) => `${selectorText(of)}=${own}`).join(', ') || undefined,
    allow: listed(offers.allow),
    deny: listed(offers.deny),
    postback: postback === undefined ? undefined : `${postback.method ?? 'GET'} ${URL.parse(postback.url)?.host ?? ''}`,
  };
}

function postbackOf(site: WrittenSite, { postback: url, postbackMethod: method }: SetOptions): SiteChanges['postback'] {
  const before = site['postback'] as { url: string; method?: 'GET' | 'POST' } | undefined;
  if (url === 'none') return null;
  if (url === undefined && method === undefined) return undefined;
  const address = url ?? before?.url;
  if (address === undefined) throw new UsageError('the site has no postback address: give it by --postback');
  return { url: address, method: method ?? (before === undefined ? 'POST' : (before.method ?? 'GET')) };
}

function severally<Value>(parse: (text: string) => Value): (text: string, before?: Value[]) => Value[] {
  return (text, before = []) => [...before, parse(text)];
}

function share(text: string): number {
  if (!/^(0(\.\d{1,6})?|1(\.0{1,6})?)$/.test(text))
    throw new InvalidArgumentError('It takes a share from 0 to 1, such as 0.2, with at most 6 places.');
  return Number(text);
}

function commissionOf(text: string): NonNullable<SiteChanges['commissions']>[number] {
  const [, of = text, given = ''] = /^(.*)=([^=]*)$/s.exec(text) ?? [];
  const selector = parseSelector(of);
  if (selector.offer === undefined && selector.source === undefined)
    throw new InvalidArgumentError('Commissions are by offer or source, such as source:north=0.3.');
  return { of: selector, commission: given === 'none' ? undefined : share(given) };
}
