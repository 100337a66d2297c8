import type { DuckDBConnection } from '@duckdb/node-api';
import type { OpenDuckDB } from '../../kit/duckdb/open.ts';
import { openAnalytics } from '../snapshot/movable-files.ts';
import { textKey } from '../../kit/vocabulary/event-key.ts';
import { clickFilesOf, eventFilesOfClick, type ClickFiles } from './click-files.ts';
import {
  clickedOfferQuery,
  clickQuery,
  clicksIn,
  conversionsQuery,
  filesQuery,
  postbacksQuery,
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
  /** Amount in the site's points. */
  reward: string;
  state: string;
  attempts: number;
  last_attempt_at: string | null;
  last_status: number | null;
}

/** Lookups occupy threads that the process also needs for files and compression: more of them wait their turn. */
const maxConcurrentLookups = 2;
/** A lookup that would have to wait behind so many is refused with `unavailable`. */
const maxWaitingLookups = 100;

/** Number of files above which all are asked for their keys before any is asked for the click. */
const fewFiles = 4;

interface OpenDatabase {
  database: OpenDuckDB;
  files: ClickFiles;
  idle: DuckDBConnection[];
  waiting: ((connection: DuckDBConnection) => void)[];
}

/**
 * Looks up clicks in a snapshot's `analytics.duckdb`, opened read-only at the first lookup and closed when the
 * snapshot is no longer served and its last lookup has ended. Of its event files it asks those of the days that the key
 * runs name.
 */
export class SnapshotClicks {
  readonly #folder: string;
  #isRetired = false;
  #database: Promise<OpenDatabase> | undefined;
  #underWay = 0;

  constructor(folder: string) {
    this.#folder = folder;
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
    return this.#ask(async (connection, { files }) => {
      const queryOf = (clicks: string) => clickQuery(clicks, soughtKey);
      const click = await findClick<FoundClick['click']>(connection, files, queryOf, [clickId, siteKey]);
      if (click === undefined) return undefined;
      const conversions = await foundBy<FoundConversion>(connection, conversionsQuery, [clickId]);
      // Most clicks have no conversion, and then there is no postback.
      const postbacks =
        conversions.length === 0 ? [] : await foundBy<FoundPostback>(connection, postbacksQuery, [clickId]);
      return { click, conversions, postbacks };
    });
  }

  /** Returns the offer of a click of any site; undefined where there is no such click. Throws as `find` does. */
  findOffer(clickId: string): Promise<ClickedOffer | undefined> {
    const queryOf = (clicks: string) => clickedOfferQuery(clicks, soughtKey);
    return this.#ask((connection, { files }) => findClick<ClickedOffer>(connection, files, queryOf, [clickId]));
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
      }
    } finally {
      this.#underWay--;
      await this.#closeWhenDone();
    }
  }

  /** The snapshot is not served any more. */
  async retire(): Promise<void> {
    this.#isRetired = true;
    await this.#closeWhenDone();
  }

  async #closeWhenDone(): Promise<void> {
    if (!this.#isRetired || this.#underWay > 0 || this.#database === undefined) return;
    const closing = this.#database;
    this.#database = undefined;
    (await closing).database.close();
  }

  async #open(): Promise<OpenDatabase> {
    try {
      const database = await openAnalytics(this.#folder, {
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

/** `values` of the query: the click's id first. */
async function findClick<Click>(
  connection: DuckDBConnection,
  files: ClickFiles,
  queryOf: (clicks: string) => string,
  values: [clickId: string, ...string[]],
): Promise<Click | undefined> {
  // No event file: the view is empty, or its rows are in the database.
  if (files.events.length === 0) return (await foundBy<Click>(connection, queryOf('clicks'), values))[0];
  const [clickId] = values;
  let holding = eventFilesOfClick(files, clickId);
  if (holding.length > fewFiles)
    holding = (await rowsOf<{ filename: string }>(connection, filesQuery(holding, soughtKey), [clickId])).map(
      ({ filename }) => filename,
    );
  if (holding.length === 0) return undefined;
  const [click] = await foundBy<Click>(connection, queryOf(clicksIn(holding)), values);
  return click;
}

async function rowsOf<Row>(connection: DuckDBConnection, query: string, values: string[]): Promise<Row[]> {
  return (await connection.runAndReadAll(query, values)).getRowObjectsJson() as Row[];
}

async function foundBy<Row>(connection: DuckDBConnection, query: string, values: string[]): Promise<Row[]> {
  return (await rowsOf<{ found: string }>(connection, query, values)).map(({ found }) => JSON.parse(found) as Row);
}
