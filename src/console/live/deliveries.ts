import type { DataDirectory } from '../../kit/config/data-directory.ts';
import type { Settings } from '../../kit/config/settings.ts';
import { hasStore, openStore } from '../../postbacks/open-store.ts';
import type {
  AttemptRecord,
  DeliveryFilter,
  DeliveryState,
  DeliveryStore,
  FailedPostbacks,
  StateCounts,
  StatePostbacks,
} from '../../postbacks/store/delivery-store.ts';
import { readSites, type Site } from '../../kit/sites/sites.ts';

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

/** The store of deliveries, as it is at the moment of each look. */
export class LiveDeliveries {
  readonly #data: DataDirectory;
  readonly #settings: Pick<Settings, 'postbacks'>;
  /** By the last look, from which the next goes on. */
  #counted: StateCounts | undefined;

  constructor(data: DataDirectory, settings: Pick<Settings, 'postbacks'>) {
    this.#data = data;
    this.#settings = settings;
  }

  /** Undefined where there has never been a postback. */
  read(filter: DeliveryFilter, { first, rows }: { first: number; rows: number }): Promise<Deliveries | undefined> {
    return this.#inStore(async (store) => {
      this.#counted = await store.countByState(this.#counted);
      const { states } = this.#counted;
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

  /** Those of that webhook or conversion id, in their order; undefined where there has never been a postback. */
  show(id: string): Promise<Delivery[] | undefined> {
    return this.#inStore(async (store) => {
      const circuits = await store.openCircuits();
      const sites = new Map(sitesOf(this.#data).map((site) => [site.site_key, site]));
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

  /** Opened for one look: one that was put aside or moved meanwhile is not held on to. */
  async #inStore<Result>(work: (store: DeliveryStore) => Promise<Result>): Promise<Result | undefined> {
    if (!hasStore(this.#data, this.#settings)) return undefined;
    const store = await openStore(this.#data, this.#settings);
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  }
}

/** Of filters by site and state only, which what was counted tells already: to count millions takes most of a page. */
function countIn(states: readonly StatePostbacks[], { site, state, ...others }: DeliveryFilter): number | undefined {
  if (Object.values(others).some((value) => value !== undefined)) return undefined;
  return states
    .filter((each) => (site ?? each.siteKey) === each.siteKey && (state ?? each.state) === each.state)
    .reduce((sum, { postbacks }) => sum + postbacks, 0);
}

/** A broken `sites.json` is told by the overview; what is known of deliveries is shown all the same. */
function sitesOf({ sitesFile }: DataDirectory): Site[] {
  try {
    return readSites(sitesFile).sites;
  } catch {
    return [];
  }
}
