import type { DataDirectory } from '../../config/data-directory.ts';
import type { Settings } from '../../config/settings.ts';
import { hasStore, openStore } from '../../postbacks/open-store.ts';
import type {
  AttemptRecord,
  DeliveryFilter,
  DeliveryState,
  DeliveryStore,
  FailedPostbacks,
  StatePostbacks,
} from '../../postbacks/store/delivery-store.ts';
import { readSites, type Site } from '../../sites/sites.ts';

/** A site whose receiver does not answer and is left alone for a while. */
export interface RestingSite {
  siteKey: string;
  /** Milliseconds since the epoch. */
  pausedUntil: number;
  /** How often in a row it was found away. */
  openings: number;
}

/** How deliveries stand at this moment. */
export interface Deliveries {
  states: StatePostbacks[];
  errors: FailedPostbacks[];
  resting: RestingSite[];
  found: DeliveryState[];
  /** How many meet the filter, shown or not. */
  count: number;
  /** How many dead ones are of the filter's site and time. */
  dead: number;
}

/** One postback, and what there is to know of when it goes out. */
export interface Delivery {
  postback: DeliveryState;
  attempts: AttemptRecord[];
  /** The one of its click that goes first; undefined where none of them is to be sent. */
  nextOfClick: string | undefined;
  /** Until when its site is left alone, milliseconds since the epoch. */
  pausedUntil: number | undefined;
  /** Undefined where `sites.json` has it not, or cannot be read. */
  site: Site | undefined;
}

type Where = { data: DataDirectory; settings: Pick<Settings, 'postbacks'> };

/** Undefined where there has never been a postback. */
export function readDeliveries(
  where: Where,
  filter: DeliveryFilter,
  { first, rows }: { first: number; rows: number },
): Promise<Deliveries | undefined> {
  return inStore(where, async (store) => {
    const states = await store.countByState();
    const count = (wanted: DeliveryFilter) => countIn(states, wanted) ?? store.count(wanted);
    return {
      states,
      errors: await store.countByError(),
      resting: [...(await store.openCircuits())].map(([siteKey, circuit]) => ({ siteKey, ...circuit })),
      found: await store.find(filter, rows, first),
      count: await count(filter),
      dead: await count({ ...filter, state: 'dead' }),
    };
  });
}

/** Of filters by site and state only, which what was counted tells already: to count millions takes most of a page. */
function countIn(states: readonly StatePostbacks[], { site, state, ...others }: DeliveryFilter): number | undefined {
  if (Object.values(others).some((value) => value !== undefined)) return undefined;
  return states
    .filter((each) => (site ?? each.siteKey) === each.siteKey && (state ?? each.state) === each.state)
    .reduce((sum, { postbacks }) => sum + postbacks, 0);
}

/** Those of that webhook or conversion id, in their order; undefined where there has never been a postback. */
export function readDelivery(where: Where, id: string): Promise<Delivery[] | undefined> {
  return inStore(where, async (store) => {
    const circuits = await store.openCircuits();
    const sites = new Map(sitesOf(where.data).map((site) => [site.site_key, site]));
    const found: Delivery[] = [];
    for (const { postback, attempts } of await store.show(id))
      found.push({
        postback,
        attempts,
        nextOfClick: await store.nextOfClick(postback.clickId),
        pausedUntil: circuits.get(postback.siteKey)?.pausedUntil,
        site: sites.get(postback.siteKey),
      });
    return found;
  });
}

/** Opened for one look: a store that was put aside or moved meanwhile is not held on to. */
async function inStore<Result>(
  { data, settings }: Where,
  work: (store: DeliveryStore) => Promise<Result>,
): Promise<Result | undefined> {
  if (!hasStore(data, settings)) return undefined;
  const store = await openStore(data, settings);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** A broken `sites.json` is told by the overview; what is known of deliveries is shown all the same. */
function sitesOf({ sitesFile }: DataDirectory): Site[] {
  try {
    return readSites(sitesFile).sites;
  } catch {
    return [];
  }
}
