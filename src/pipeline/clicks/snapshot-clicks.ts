import type { DuckDBConnection } from '@duckdb/node-api';
import { join } from 'node:path';
import { openDuckDB, readOnly, type OpenDuckDB } from '../../kit/duckdb/open.ts';
import { analyticsFile } from '../snapshot/manifest.ts';
import { textKey } from '../../kit/vocabulary/event-key.ts';
import { hashedKey } from './click-bloom-filter.ts';
import { ClickFileIndex } from './click-file-index.ts';
import { clickFilesOf } from './click-files.ts';
import type { ClickFile, ClickFiles } from './click-files.ts';
import {
  clickedOfferQuery,
  clickQuery,
  clicksIn,
  conversionsQuery,
  filesQuery,
  postbacksQuery,
  rowsIn,
} from './click-queries.ts';
import { ApiError } from '../../kit/http/errors.ts';

/** Moments are microseconds since the epoch, as text. */
export interface FoundClick {
  click: {
    click_id: string;
    offer_id: number | null;
    offer_title: string | null;
    user_id: string;
    site_key: string;
    clicked_at: string;
    country: string | null;
    device: string | null;
    sub1: string | null;
    sub2: string | null;
  };
  conversions: FoundConversion[];
  postbacks: FoundPostback[];
}

export interface ClickedOffer {
  /** Null where no catalog has the offer yet. */
  offer_id: number | null;
  site_key: string;
  user_id: string;
  /** Microseconds since the epoch, as text. */
  clicked_at: string;
}

export interface FoundConversion {
  conversion_id: string;
  event_id: string | null;
  status: string;
  /** Gross USD. */
  payout: string | null;
  credited_at: string | null;
  reversed_at: string | null;
}

export interface FoundPostback {
  /** credit, reject or chargeback. */
  event: string;
  /** In the site's points. */
  reward: string;
  state: string;
  attempts: number;
  last_attempt_at: string | null;
  last_status: number | null;
}

/** Lookups occupy threads that the process also needs for files and compression: more of them wait their turn. */
const maxConcurrentLookups = 2;
/** Whoever would have to wait behind so many is told to come back. */
const maxWaitingLookups = 100;

/** More files than these are asked for their keys before any of them is asked for the click. */
const fewFiles = 4;

interface OpenDatabase {
  database: OpenDuckDB;
  files: ClickFiles;
  idle: DuckDBConnection[];
  waiting: ((connection: DuckDBConnection) => void)[];
}

/** What this process knows of Parquet files: the next snapshot has nearly all of them as well. */
const sharedIndex = new ClickFileIndex();

/**
 * Looks up clicks in a snapshot's `analytics.duckdb`, opened read-only at the first lookup and closed when the
 * snapshot is no longer served and its last lookup has ended. Of the snapshot's Parquet files it asks those that the
 * index does not rule out; the first lookup has it learn which those are.
 */
export class SnapshotClicks {
  readonly #folder: string;
  readonly #index: ClickFileIndex;
  readonly #retirement = new AbortController();
  #database: Promise<OpenDatabase> | undefined;
  #learning: Promise<void> | undefined;
  #underWay = 0;

  constructor(folder: string, index: ClickFileIndex = sharedIndex) {
    this.#folder = folder;
    this.#index = index;
  }

  /** Opens the database before the first lookup: a snapshot that is held open is not removed. */
  async hold(): Promise<void> {
    await (this.#database ??= this.#open());
  }

  /**
   * A site's click with what became of it; undefined where the site has no such click. Throws `ApiError` where too many
   * wait already.
   */
  find(clickId: string, siteKey: string): Promise<FoundClick | undefined> {
    return this.#ask((connection, database) => this.#findBy(connection, database, clickId, siteKey));
  }

  /** Which offer a click of any site is on; undefined where there is no such click. Throws as `find` does. */
  findOffer(clickId: string): Promise<ClickedOffer | undefined> {
    return this.#ask((connection, { files }) => {
      const asked = this.#askedOf(files.clicks, clickId) ?? 'clicks';
      const queryOf = (clicks: string) => clickedOfferQuery(clicks, soughtKey);
      return findClick<ClickedOffer>(connection, asked, queryOf, [clickId]);
    });
  }

  async #ask<Found>(find: (connection: DuckDBConnection, database: OpenDatabase) => Promise<Found>): Promise<Found> {
    this.#underWay++;
    try {
      const database = await (this.#database ??= this.#open());
      if (database.waiting.length >= maxWaitingLookups)
        throw new ApiError('unavailable', 'too many lookups at once; try again in some seconds');
      const connection =
        database.idle.pop() ?? (await new Promise<DuckDBConnection>((resolve) => database.waiting.push(resolve)));
      try {
        return await find(connection, database);
      } finally {
        const next = database.waiting.shift();
        if (next === undefined) database.idle.push(connection);
        else next(connection);
        // Not before anybody looks something up: in many a service nobody does.
        this.#learning ??= this.#learn(database.files);
      }
    } finally {
      this.#underWay--;
      await this.#closeWhenDone();
    }
  }

  /** The snapshot is not served any more. */
  async retire(): Promise<void> {
    this.#retirement.abort();
    await this.#learning;
    await this.#closeWhenDone();
  }

  async #findBy(
    connection: DuckDBConnection,
    { files }: OpenDatabase,
    clickId: string,
    siteKey: string,
  ): Promise<FoundClick | undefined> {
    const askedOf = (group: readonly ClickFile[]) => this.#askedOf(group, clickId);
    const asked = askedOf(files.clicks) ?? 'clicks';
    const queryOf = (clicks: string) => clickQuery(clicks, soughtKey);
    const click = await findClick<FoundClick['click']>(connection, asked, queryOf, [clickId, siteKey]);
    if (click === undefined) return undefined;
    const conversions = await findOutcomes<FoundConversion>(
      connection,
      conversionsQuery,
      askedOf(files.conversions) ?? 'conversions',
      clickId,
    );
    // Most clicks have none, and what has no conversion has nothing to tell.
    const postbacks =
      conversions.length === 0
        ? []
        : await findOutcomes<FoundPostback>(
            connection,
            postbacksQuery,
            askedOf(files.postbacks) ?? 'postbacks',
            clickId,
          );
    return { click, conversions, postbacks };
  }

  /** Those of the files that may have a click; undefined where the snapshot has it in a table. */
  #askedOf(group: readonly ClickFile[], clickId: string): string[] | undefined {
    if (group.length === 0) return undefined;
    return this.#index.filesThatMayHave(group, hashedKey(clickId)).map(({ path }) => path);
  }

  async #learn({ clicks, conversions, postbacks }: ClickFiles): Promise<void> {
    try {
      // What is small and asked for every click first, then the clicks of the newest days.
      await this.#index.learn([...conversions, ...postbacks, ...clicks.toReversed()], this.#retirement.signal);
    } catch {
      // Lookups that know less ask more files, and would tell themselves what is wrong with one.
    }
  }

  async #closeWhenDone(): Promise<void> {
    if (!this.#retirement.signal.aborted || this.#underWay > 0 || this.#database === undefined) return;
    const closing = this.#database;
    this.#database = undefined;
    (await closing).database.close();
  }

  async #open(): Promise<OpenDatabase> {
    try {
      const database = await openDuckDB(join(this.#folder, analyticsFile), {
        ...readOnly,
        // A lookup touches little; the pipeline on the same machine shall have the rest.
        threads: '1',
        memory_limit: '512MiB',
      });
      const files = await clickFilesOf(this.#folder);
      const idle = [database.connection];
      while (idle.length < maxConcurrentLookups) idle.push(await database.connect());
      // The Parquet files of a snapshot never change: what is known of them stays true.
      for (const connection of idle) await connection.run('SET parquet_metadata_cache = true');
      return { database, files, idle, waiting: [] };
    } catch (error) {
      this.#database = undefined;
      throw error;
    }
  }
}

/** SQL of the key of the click that is asked for. */
const soughtKey = textKey('$1::VARCHAR');

/** In these files, or in the view `clicks`. `values` of the query: the click's id first. */
async function findClick<Click>(
  connection: DuckDBConnection,
  within: readonly string[] | 'clicks',
  queryOf: (clicks: string) => string,
  values: [clickId: string, ...string[]],
): Promise<Click | undefined> {
  let clicks: string = 'clicks';
  if (within !== 'clicks') {
    const files =
      within.length <= fewFiles
        ? within
        : (await rowsOf<{ filename: string }>(connection, filesQuery(within, soughtKey), [values[0]])).map(
            ({ filename }) => filename,
          );
    if (files.length === 0) return undefined;
    clicks = clicksIn(files);
  }
  const [click] = await foundBy<Click>(connection, queryOf(clicks), values);
  return click;
}

/** In these files, or in the view of that name. */
async function findOutcomes<Row>(
  connection: DuckDBConnection,
  query: (relation: string) => string,
  within: readonly string[] | string,
  clickId: string,
): Promise<Row[]> {
  if (within.length === 0) return [];
  return foundBy<Row>(connection, query(typeof within === 'string' ? within : rowsIn(within)), [clickId]);
}

async function rowsOf<Row>(connection: DuckDBConnection, query: string, values: string[]): Promise<Row[]> {
  return (await connection.runAndReadAll(query, values)).getRowObjectsJson() as Row[];
}

async function foundBy<Row>(connection: DuckDBConnection, query: string, values: string[]): Promise<Row[]> {
  return (await rowsOf<{ found: string }>(connection, query, values)).map(({ found }) => JSON.parse(found) as Row);
}
