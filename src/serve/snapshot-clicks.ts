import { DuckDBInstance } from '@duckdb/node-api';
import type { DuckDBConnection, DuckDBPreparedStatement } from '@duckdb/node-api';
import { join } from 'node:path';
import { analyticsFile } from '../snapshot/manifest.ts';
import { Refusal } from './refusal.ts';

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

/** By the 8-byte key first: reading all click ids of a month takes ten times as long. */
const clickQuery = `
  SELECT clicks.click_id, clicks.offer_id, offers.title AS offer_title, clicks.user_id, clicks.site_key,
    epoch_us(clicks.clicked_at)::VARCHAR AS clicked_at, clicks.country, clicks.device, clicks.sub1, clicks.sub2
  FROM clicks LEFT JOIN offers ON offers.offer_id = clicks.offer_id
  WHERE clicks.event_key = hash($1::VARCHAR) AND clicks.click_id = $1 AND clicks.site_key = $2`;

const conversionsQuery = `
  SELECT conversion_id, event_id, status, payout::VARCHAR AS payout,
    epoch_us(credited_at)::VARCHAR AS credited_at, epoch_us(reversed_at)::VARCHAR AS reversed_at
  FROM conversions WHERE click_id = $1 ORDER BY occurred_at, conversion_id`;

const postbacksQuery = `
  SELECT kind AS event, reward::VARCHAR AS reward, state, attempts, epoch_us(last_attempt_at)::VARCHAR AS last_attempt_at, last_status
  FROM postbacks WHERE click_id = $1
  ORDER BY occurred_at, CASE kind WHEN 'credit' THEN 1 WHEN 'reject' THEN 2 ELSE 3 END, conversion_id`;

/** Lookups occupy threads that the process also needs for files and compression: more of them wait their turn. */
const mostAtOnce = 2;
/** Whoever would have to wait behind so many is told to come back. */
const mostWaiting = 100;

interface Lookup {
  connection: DuckDBConnection;
  click: DuckDBPreparedStatement;
  conversions: DuckDBPreparedStatement;
  postbacks: DuckDBPreparedStatement;
}

interface OpenDatabase {
  instance: DuckDBInstance;
  idle: Lookup[];
  waiting: ((lookup: Lookup) => void)[];
}

/**
 * Looks up clicks in a snapshot's `analytics.duckdb`, opened read-only at the first lookup and closed when the
 * snapshot is no longer served and its last lookup has ended.
 */
export class SnapshotClicks {
  readonly #folder: string;
  #database: Promise<OpenDatabase> | undefined;
  #underWay = 0;
  #retired = false;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Opens the database before the first lookup: a snapshot that is held open is not removed. */
  async hold(): Promise<void> {
    await (this.#database ??= this.#open());
  }

  /** A site's click with what became of it; undefined where the site has no such click. Throws `Refusal` where too many wait already. */
  async find(clickId: string, siteKey: string): Promise<FoundClick | undefined> {
    this.#underWay++;
    try {
      const database = await (this.#database ??= this.#open());
      if (database.waiting.length >= mostWaiting) throw new Refusal('unavailable', 'too many lookups at once; try again in some seconds');
      const lookup = database.idle.pop() ?? (await new Promise<Lookup>((resolve) => database.waiting.push(resolve)));
      try {
        const [click] = await rowsOf<FoundClick['click']>(lookup.click, [clickId, siteKey]);
        if (click === undefined) return undefined;
        return {
          click,
          conversions: await rowsOf<FoundConversion>(lookup.conversions, [clickId]),
          postbacks: await rowsOf<FoundPostback>(lookup.postbacks, [clickId]),
        };
      } finally {
        const next = database.waiting.shift();
        if (next === undefined) database.idle.push(lookup);
        else next(lookup);
      }
    } finally {
      this.#underWay--;
      await this.#closeWhenDone();
    }
  }

  /** The snapshot is not served any more. */
  async retire(): Promise<void> {
    this.#retired = true;
    await this.#closeWhenDone();
  }

  async #closeWhenDone(): Promise<void> {
    if (!this.#retired || this.#underWay > 0 || this.#database === undefined) return;
    const closing = this.#database;
    this.#database = undefined;
    const { instance, idle } = await closing;
    for (const { connection } of idle) connection.closeSync();
    instance.closeSync();
  }

  async #open(): Promise<OpenDatabase> {
    try {
      const instance = await DuckDBInstance.create(join(this.#folder, analyticsFile), {
        access_mode: 'READ_ONLY',
        // A lookup touches little; the pipeline on the same machine shall have the rest.
        threads: '1',
        memory_limit: '512MiB',
        autoinstall_known_extensions: 'false',
        autoload_known_extensions: 'false',
      });
      const idle: Lookup[] = [];
      for (let number = 0; number < mostAtOnce; number++) idle.push(await prepareLookup(instance));
      return { instance, idle, waiting: [] };
    } catch (error) {
      this.#database = undefined;
      throw error;
    }
  }
}

async function prepareLookup(instance: DuckDBInstance): Promise<Lookup> {
  const connection = await instance.connect();
  // The Parquet files of a snapshot never change: what is known of them stays true.
  await connection.run('SET parquet_metadata_cache = true');
  return {
    connection,
    click: await connection.prepare(clickQuery),
    conversions: await connection.prepare(conversionsQuery),
    postbacks: await connection.prepare(postbacksQuery),
  };
}

async function rowsOf<Row>(statement: DuckDBPreparedStatement, values: string[]): Promise<Row[]> {
  statement.bind(values);
  return (await statement.runAndReadAll()).getRowObjectsJson() as Row[];
}
