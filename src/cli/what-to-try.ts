import type { DataDirectory } from '../kit/config/data-directory.ts';
import { readSites } from '../kit/sites/sites.ts';
import { typedOfferline } from '../kit/text/typed-commands.ts';

/** Commands to copy. Sites are named with their keys; their secrets stay in the file. */
export function whatToTry(data: DataDirectory, address: string, consoleLink?: string): string {
  const sites = readSites(data.sitesFile).sites.filter(({ status }) => status === 'active');
  const key = (variant: string) => sites.find((site) => site.variant === variant)?.site_key ?? '<site_key>';
  const secret = '<site_secret>';
  return [
    `offerline serves ${address}`,
    ...(consoleLink === undefined ? [] : [`Its console: ${consoleLink} (good once, for ten minutes)`]),
    '',
    `Secrets are in ${data.sitesFile}. Try:`,
    `  curl '${address}/readyz'`,
    `  curl '${address}/c/api/v1/offers?site_key=${key('C')}&site_secret=${secret}&country=DE&limit=3'`,
    `  curl '${address}/c/api/v1/reports?site_key=${key('C')}&site_secret=${secret}'`,
    `  curl '${address}/b/api/v1/offers/top-converting?site_key=${key('B')}&site_secret=${secret}&take=5'`,
    `  ${typedOfferline()} status`,
    `  ${typedOfferline()} sources list`,
    `  ${typedOfferline()} postbacks list --limit 10`,
    `  ${typedOfferline()} track test <offer_id> --site ${key('A')}`,
    `  ${typedOfferline()} sql "FROM offer_stats_2d ORDER BY rank LIMIT 10"`,
    '',
    'Land more files under landing/ and the next refresh serves them. Ctrl-C stops.',
  ].join('\n');
}
