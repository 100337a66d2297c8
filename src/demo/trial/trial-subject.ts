import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { UsageError } from '../../kit/errors/errors.ts';
import { isExampleName } from '../../postbacks/http/example-route.ts';
import { readPostbackAddress } from '../../kit/sites/postback-address.ts';
import { readSites, type Site } from '../../kit/sites/sites.ts';
import {
  readPostbackSecrets,
  type PostbackSecrets,
  type PostbackSettings,
} from '../../sources/config/postback-settings.ts';
import { readSources, type SourceEntry } from '../../sources/config/sources-file.ts';
import { readRoutes, type Route } from '../../pipeline/routes/routes-file.ts';

/** Offer that is tried, as users of one site come to it. */
export interface TrialSubject {
  route: Route;
  site: Site;
  /** Postback settings of the offer's source. */
  settings: PostbackSettings;
  secrets: PostbackSecrets;
  /** The source's entry in `sources.json`. */
  entry: SourceEntry;
  /** The milestone that is reported; undefined for an offer without any. */
  eventId: string | undefined;
  /** Receiver of postbacks: nobody, names that only a demo answers for, or a publisher. */
  receiver: 'nobody' | 'demo' | 'publisher';
  /** Host of the address for postbacks; empty where there is none. */
  postbackHost: string;
}

/** Finds all that a trial needs, before anything is sent. Throws `UsageError` for the first thing that is missing. */
export async function subjectOf(
  data: DataDirectory,
  asked: { offerId: number; siteKey: string; eventId: string | undefined },
): Promise<TrialSubject> {
  const site = readSites(data.sitesFile).sites.find(({ site_key }) => site_key === asked.siteKey);
  if (site === undefined)
    throw new UsageError(
      `there is no site ${asked.siteKey} in ${data.sitesFile}; \`offerline sites list\` shows those there are`,
    );
  const route = await routeOf(data, asked.offerId);
  const entry = readSources(data).sources.find(({ source }) => source === route.source);
  const settings = entry?.postback;
  if (entry === undefined || settings === undefined)
    throw new UsageError(
      `source ${route.source} of offer ${asked.offerId} cannot report conversions: give its entry in ${data.sourcesFile} a guard, as {"source": "${route.source}", "postback": {"token": {"env": "NAME"}}}`,
    );
  const secrets = readPostbackSecrets(route.source, settings);
  return { route, site, settings, secrets, entry, eventId: eventOf(route, asked.eventId), ...receiverOf(site) };
}

async function routeOf(data: DataDirectory, offerId: number): Promise<Route> {
  const routes = await readRoutes(data.currentRoutes).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new UsageError('there are no routes yet, so no link leads anywhere: `offerline run refresh` writes them');
  });
  const route = routes.offers.get(offerId);
  if (route === undefined)
    throw new UsageError(
      `there is no offer ${offerId}; \`offerline sql "SELECT offer_id, source, title FROM offers"\` shows those there are`,
    );
  return route;
}

/** The first milestone, unless one is asked for. */
function eventOf({ offer_id, events }: Route, asked: string | undefined): string | undefined {
  if (asked === undefined || events.some(({ event_id }) => event_id === asked)) return asked ?? events[0]?.event_id;
  const known = events.map(({ event_id }) => event_id).join(', ');
  throw new UsageError(`offer ${offer_id} has no event ${asked}; ${known === '' ? 'it has none' : `it has ${known}`}`);
}

function receiverOf({ postback }: Site): Pick<TrialSubject, 'receiver' | 'postbackHost'> {
  const address = postback === undefined ? undefined : readPostbackAddress(postback.url);
  if (address === undefined || !('origin' in address)) return { receiver: 'nobody', postbackHost: '' };
  const { hostname, host } = new URL(address.origin);
  return { receiver: isExampleName(hostname) ? 'demo' : 'publisher', postbackHost: host };
}
