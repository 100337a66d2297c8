import { existsSync } from 'node:fs';
import type { DataDirectory } from '../kit/config/data-directory.ts';
import { packageFile } from '../kit/files/package-files.ts';
import { readSites, type Site } from '../kit/sites/sites.ts';
import { shellWord } from '../kit/text/shell-word.ts';
import { typedOfferline } from '../kit/text/typed-commands.ts';

/** Paths of each variant's feed, the ones to try first before others. */
const feeds: Readonly<Record<Site['variant'], string>> = {
  C: '/c/api/v1/offers?limit=3',
  B: '/b/api/v1/offers?take=3',
  A: '/a/api/offers?user_id=ann&format=offerwall',
};

/** What a demo means to fail, in the words of its log. */
const intendedFailures =
  'Two failures are part of the demo: a damaged log (broken_gzip) is quarantined, and the network clickfield fails at its second pull. So are the rejected rows and the older export of northstar that `status` shows.';

/** How new data reaches what is served. */
const newsOf = {
  landing: 'Land more files under landing/ and the next refresh serves them.',
  storage: 'What the machine that writes publishes to storage is served by itself.',
  none: 'This snapshot is served, and no newer one.',
} as const;

/**
 * Commands to copy, each of which works as it is. A site's secret stays in its file, from which the command reads it,
 * unless `publicSecrets` has it, as those of a demo.
 */
export function whatToTry(
  data: DataDirectory,
  address: string,
  {
    news,
    consoleLink,
    publicSecrets,
  }: {
    news: keyof typeof newsOf;
    consoleLink?: string | undefined;
    publicSecrets?: ReadonlySet<string> | undefined;
  },
): string {
  const sites = readSites(data.sitesFile).sites.filter(({ status }) => status === 'active');
  const site = (['C', 'B', 'A'] as const).flatMap((variant) => sites.filter((each) => each.variant === variant))[0];
  const offerline = typedOfferline();
  return [
    `offerline serves ${address}`,
    ...(consoleLink === undefined
      ? []
      : [`Its console: ${consoleLink}`, `(good once, for ten minutes; \`offerline console link\` prints another)`]),
    ...(publicSecrets === undefined ? [] : ['', intendedFailures]),
    '',
    'Try, in another terminal:',
    site === undefined
      ? `  ${offerline} sites add <site_key>    # no site is active yet`
      : `  ${feedCommand(site, address, data, publicSecrets)}`,
    `  ${offerline} status`,
    `  ${offerline} sql "FROM offer_stats_2d ORDER BY rank LIMIT 10"`,
    ...(publicSecrets === undefined || site === undefined
      ? []
      : [`  ${offerline} track test 101 --site ${site.site_key}`]),
    '',
    `${newsOf[news]} Ctrl-C stops.`,
  ].join('\n');
}

/** Steps to a first site; `demo` is the last. The example is in a checkout, in no image and no installed package. */
export function waysToBegin(demo: string, example = packageFile('data/example')): string {
  const copy = existsSync(example) ? `begin with a copy of ${example}, ` : '';
  return `add a site with \`offerline sites add\`, ${copy}or ${demo}`;
}

/** The shell command by which a publisher reads the first offers. */
function feedCommand(
  { site_key, site_secret, variant }: Site,
  address: string,
  { sitesFile }: DataDirectory,
  publicSecrets: ReadonlySet<string> | undefined,
): string {
  const url = `${address}${feeds[variant]}&site_key=${encodeURIComponent(site_key)}`;
  if (variant === 'A') return `curl ${shellWord(url)}`;
  if (publicSecrets?.has(site_secret) === true) return `curl ${shellWord(`${url}&site_secret=${site_secret}`)}`;
  const read = `JSON.parse(fs.readFileSync(process.argv[1])).sites.find((site) => site.site_key === process.argv[2]).site_secret`;
  const secret = `$(node -p ${shellWord(read)} ${shellWord(sitesFile)} ${shellWord(site_key)})`;
  return `curl -G ${shellWord(url)} --data-urlencode "site_secret=${secret}"`;
}
