import type { DataDirectory } from '../../kit/config/data-directory.ts';
import type { Settings } from '../../kit/config/settings.ts';
import { hasStore, openStore } from '../../postbacks/open-store.ts';
import type { AttemptRecord, DeliveryState } from '../../postbacks/store/delivery-rows.ts';
import type {
  DeliveryFilter,
  FailedPostbacks,
  StateCounts,
  StatePostbacks,
} from '../../postbacks/store/query-store.ts';
import type { DeliveryStore } from '../../postbacks/store/delivery-store.ts';
import { readSites, type Site } from '../../kit/sites/sites.ts';

/** A site whose circuit breaker is open: its receiver does not answer, so nothing is sent for a while. */
export interface PausedSite {
  siteKey: string;
  /** Milliseconds since the epoch. */
  pausedUntil: number;
  /** Failures in a row. */
  openings: number;
}

/** All deliveries at this moment. */
export interface DeliveryOverview {
  states: StatePostbacks[];
  errors: FailedPostbacks[];
  paused: PausedSite[];
  found: DeliveryState[];
  /** Number of postbacks that match the filter, shown or not. */
  count: number;
  /** Number of dead ones of the filter's site and time. */
  dead: number;
}

/** A postback, with all that decides when it is sent. */
export interface DeliveryDetail {
  postback: DeliveryState;
  attempts: AttemptRecord[];
  /** The first postback of its click that is still to be sent. */
  nextOfClick: string | undefined;
  /** The end of its site's pause, milliseconds since the epoch. */
  pausedUntil: number | undefined;
  /** Undefined where `sites.json` lacks the site, or cannot be read. */
  site: Site | undefined;
}

/** The delivery store, read at each request. */
export class LiveDeliveries {
  readonly #data: DataDirectory;
  readonly #settings: Pick<Settings, 'postbacks'>;
  /** The last counts; the next request counts only what changed since. */
  #counted: StateCounts | undefined;

  constructor(data: DataDirectory, settings: Pick<Settings, 'postbacks'>) {
    this.#data = data;
    this.#settings = settings;
  }

  /** Returns undefined where there has never been a postback. */
  read(
    filter: DeliveryFilter,
    { first, rows }: { first: number; rows: number },
  ): Promise<DeliveryOverview | undefined> {
    return this.#inStore(async (store) => {
      this.#counted = await store.countByState(this.#counted);
      const { states } = this.#counted;
      const count = (wanted: DeliveryFilter) => countIn(states, wanted) ?? store.count(wanted);
      return {
        states,
        errors: await store.countByError(),
        paused: [...(await store.openCircuits())].map(([siteKey, circuit]) => ({ siteKey, ...circuit })),
        found: await store.find(filter, rows, first),
        count: await count(filter),
        dead: await count({ ...filter, state: 'dead' }),
      };
    });
  }

  /** Returns the postbacks of a webhook or conversion id, in their order; undefined as above. */
  show(id: string): Promise<DeliveryDetail[] | undefined> {
    return this.#inStore(async (store) => {
      const circuits = await store.openCircuits();
      const sites = new Map(sitesOf(this.#data).map((site) => [site.site_key, site]));
      const found: DeliveryDetail[] = [];
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

  /** Opens the store for one request: another process may replace or move its file. */
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

/**
 * A count from the known counts, where the filter is by site and state only: counting millions takes most of a page.
 */
function countIn(states: readonly StatePostbacks[], { site, state, ...others }: DeliveryFilter): number | undefined {
  if (Object.values(others).some((value) => value !== undefined)) return undefined;
  return states
    .filter((each) => (site ?? each.siteKey) === each.siteKey && (state ?? each.state) === each.state)
    .reduce((sum, { postbacks }) => sum + postbacks, 0);
}

/** The overview reports a broken `sites.json`; deliveries are shown all the same. */
function sitesOf({ sitesFile }: DataDirectory): Site[] {
  try {
    return readSites(sitesFile).sites;
  } catch {
    return [];
  }
}
