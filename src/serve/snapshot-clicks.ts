import { DuckDBInstance } from '@duckdb/node-api';
import type { DuckDBConnection, DuckDBPreparedStatement } from '@duckdb/node-api';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { analyticsFile } from '../snapshot/manifest.ts';
import { clickQuery, clicksIn, conversionsQuery, filesQuery, postbacksQuery } from './click-queries.ts';
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

/** Lookups occupy threads that the process also needs for files and compression: more of them wait their turn. */
const mostAtOnce = 2;
/** Whoever would have to wait behind so many is told to come back. */
const mostWaiting = 100;

interface Lookup {
  connection: DuckDBConnection;
  /** Undefined where the snapshot has no event files: its view `clicks` says what there is. */
  files: DuckDBPreparedStatement | undefined;
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
        const click = await findClick(lookup, clickId, siteKey);
        if (click === undefined) return undefined;
        const conversions = await rowsOf<FoundConversion>(lookup.conversions, [clickId]);
        // Most clicks have none, and what has no conversion has nothing to tell.
        const postbacks = conversions.length === 0 ? [] : await rowsOf<FoundPostback>(lookup.postbacks, [clickId]);
        return { click, conversions, postbacks };
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
      const files = await eventFiles(this.#folder);
      for (let number = 0; number < mostAtOnce; number++) idle.push(await prepareLookup(instance, files));
      return { instance, idle, waiting: [] };
    } catch (error) {
      this.#database = undefined;
      throw error;
    }
  }
}

/** Those that the view `clicks` reads: a snapshot's folder has no others. */
async function eventFiles(snapshot: string): Promise<string[]> {
  const folder = join(snapshot, 'events', 'clicks');
  try {
    return (await readdir(folder)).toSorted().map((name) => join(folder, name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

async function findClick({ connection, files }: Lookup, clickId: string, siteKey: string): Promise<FoundClick['click'] | undefined> {
  let clicks = 'clicks';
  if (files !== undefined) {
    const found = await rowsOf<{ filename: string }>(files, [clickId]);
    if (found.length === 0) return undefined;
    clicks = clicksIn(found.map(({ filename }) => filename));
  }
  const reader = await connection.runAndReadAll(clickQuery(clicks), [clickId, siteKey]);
  const [click] = reader.getRowObjectsJson() as unknown as FoundClick['click'][];
  return click;
}

async function prepareLookup(instance: DuckDBInstance, files: readonly string[]): Promise<Lookup> {
  const connection = await instance.connect();
  // The Parquet files of a snapshot never change: what is known of them stays true.
  await connection.run('SET parquet_metadata_cache = true');
  return {
    connection,
    files: files.length === 0 ? undefined : await connection.prepare(filesQuery(files)),
    conversions: await connection.prepare(conversionsQuery),
    postbacks: await connection.prepare(postbacksQuery),
  };
}

async function rowsOf<Row>(statement: DuckDBPreparedStatement, values: string[]): Promise<Row[]> {
  statement.bind(values);
  return (await statement.runAndReadAll()).getRowObjectsJson() as Row[];
}
