import { setTimeout } from 'node:timers/promises';
import { dueLimit, hasOverlongWait, maxWaitsCompared, plannedAttempts } from '../../postbacks/rules/retry-plan.ts';
import { DeliveryBusyError } from '../../postbacks/store/delivery-lock.ts';
import type { ClaimedPostback, PassStore, PassUpdate, TakenSite } from '../../postbacks/store/queue-store.ts';
import type { DeliveryStore } from '../../postbacks/store/delivery-store.ts';
import { refreshHeads } from './click-heads.ts';
import { lockKey } from './lock-key.ts';
import { claimedOf, finishedColumns, finishedRow } from './rows.ts';
import { assertInUse, type PostgresSession, type StoreUse } from './session.ts';

/** Milliseconds that a pass without a site waits for one: other passes give up the sites beyond their part. */
const patienceMilliseconds = 5000;
const betweenLooksMilliseconds = 100;

const finish = `
  WITH finished AS MATERIALIZED (SELECT * FROM json_to_recordset($1) AS given (${finishedColumns})), written AS (
    UPDATE postbacks SET state = finished.state, attempts = finished.attempts, plan_attempts = finished.plan_attempts,
      last_attempt_at = finished.started_at, last_status = finished.status, last_error = finished.error,
      delivered_at = finished.delivered_at, next_attempt_at = finished.next_attempt_at, change = finished.change
    FROM finished WHERE postbacks.sequence = finished.sequence
  )
  INSERT INTO attempts (change, sequence, attempt, started_at, duration_ms, status, error, host)
  SELECT change + 1, sequence, attempts, started_at, duration_ms, status, error, host FROM finished`;

// One statement for all sites: each is looked up by itself, in the order of the index.
const claim = `
  WITH claimable AS MATERIALIZED (
    SELECT wanted.place, found.sequence, found.next_attempt_at
    FROM ROWS FROM (json_to_recordset($1) AS (site_key text, due_by bigint, most int)) WITH ORDINALITY
      AS wanted (site_key, due_by, most, place)
    CROSS JOIN LATERAL (
      SELECT sequence, next_attempt_at FROM postbacks
      WHERE state = 'pending' AND site_key = wanted.site_key AND is_next AND next_attempt_at <= wanted.due_by
      ORDER BY next_attempt_at, sequence LIMIT wanted.most
    ) AS found
  ), claimed AS (
    UPDATE postbacks SET state = 'delivering' FROM claimable WHERE postbacks.sequence = claimable.sequence
    RETURNING place, postbacks.sequence, webhook_id, kind, click_id, site_key, user_id, reward, attempts, plan_attempts,
      conversion_id, offer_id, further, postbacks.next_attempt_at
  )
  SELECT * FROM claimed ORDER BY place, next_attempt_at, sequence`;

/** Condition on `pg_locks`, up to the number of the lock: advisory locks of this database that a session holds. */
const isAdvisoryLock = `locktype = 'advisory' AND objsubid = 1 AND granted
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND (classid::bigint << 32) | objid::bigint`;

/** A store that is open, and the session that it is open in. */
interface OpenStore {
  session: PostgresSession;
  storeId: string;
}

/** Lock of a site, which the session of the pass that sends to it holds. */
const siteLock = (storeId: string, siteKey: string) => lockKey(storeId, `site ${siteKey}`);

/** Lock that sessions share while they deliver; a move of the store holds it alone. */
const passLock = (storeId: string) => lockKey(storeId, 'pass');

export async function beginPass({ session, storeId }: OpenStore, now: number): Promise<PassStore> {
  await session.hurry();
  const [row] = await session.query('SELECT pg_try_advisory_lock_shared($1) AS taken', [passLock(storeId)]);
  // A move may have come to its end between opening and here. The lock shows, also where nothing is due, whether the
  // store takes writes at all.
  const [found] = await session.query('SELECT store_id, standing FROM store FOR UPDATE');
  assertInUse(found?.['standing'] as StoreUse, session.where);
  if (row?.['taken'] !== true || found?.['store_id'] !== storeId)
    throw new DeliveryBusyError('The deliveries are being moved to another store: run again when that has ended');
  const pass = new PostgresPass(session, storeId);
  await pass.freeClaimed();
  await clampDueTimes(session, now);
  for (const { siteKey, due } of await readDue(session, now)) pass.due.set(siteKey, due);
  return pass;
}

export async function readDue(session: PostgresSession, now: number): ReturnType<DeliveryStore['due']> {
  const rows = await session.query(
    `SELECT site_key, count(*) AS due, count(*) FILTER (WHERE is_next) AS ready FROM postbacks
     WHERE state = 'pending' AND next_attempt_at <= $1 GROUP BY site_key ORDER BY min(next_attempt_at), site_key`,
    [now],
  );
  return rows.map(({ site_key, due, ready }) => ({
    siteKey: site_key as string,
    due: due as number,
    ready: ready as number,
  }));
}

/** Counts claims of sites that no pass holds. Takes no lock: a pass that tries for it then goes without the site. */
export async function readAbandonedClaims({
  session,
  storeId,
}: OpenStore): ReturnType<DeliveryStore['abandonedClaims']> {
  const claimed = await session.query(
    `SELECT site_key, count(*) AS claimed FROM postbacks WHERE state = 'delivering' GROUP BY site_key ORDER BY site_key`,
  );
  if (claimed.length === 0) return [];
  const rows = await session.query(
    `SELECT EXISTS (SELECT FROM pg_locks WHERE ${isAdvisoryLock} = key) AS held
     FROM unnest($1::bigint[]) WITH ORDINALITY AS keys (key, place) ORDER BY place`,
    [claimed.map(({ site_key }) => siteLock(storeId, site_key as string))],
  );
  return claimed
    .filter((_site, index) => rows[index]?.['held'] === false)
    .map(({ site_key, claimed: count }) => ({ siteKey: site_key as string, claimed: count as number }));
}

/** True where `clampDueTimes` has something to do, as far as some due times show. */
export async function waitsTooLong(session: PostgresSession, now: number): Promise<boolean> {
  const latest = await session.query(
    `SELECT plan_attempts AS failed, max(next_attempt_at) AS latest FROM (
       SELECT plan_attempts, next_attempt_at FROM postbacks WHERE state = 'pending' AND is_next AND next_attempt_at > $1
       LIMIT ${maxWaitsCompared}) AS waits GROUP BY plan_attempts`,
    [now],
  );
  return hasOverlongWait(now, latest as unknown as { failed: number; latest: number }[]);
}

/** Keeps all passes out until the session ends. Throws `DeliveryBusyError` while one goes on. */
export async function keepPassesOut({ session, storeId }: OpenStore): Promise<void> {
  const [row] = await session.query('SELECT pg_try_advisory_lock($1) AS taken', [passLock(storeId)]);
  if (row?.['taken'] !== true)
    throw new DeliveryBusyError('A worker delivers postbacks: run again when its pass has ended; nothing was changed.');
}

/**
 * A pass beside those of other workers: a session lock for each site keeps them apart. It writes through the session
 * that holds the locks, so that what has lost them can write nothing more.
 */
class PostgresPass implements PassStore {
  readonly due = new Map<string, number>();
  readonly #session: PostgresSession;
  readonly #storeId: string;
  #sitesHeld = 0;

  constructor(session: PostgresSession, storeId: string) {
    this.#session = session;
    this.#storeId = storeId;
  }

  /** Releases what killed workers had claimed, of any site, also of those that nobody sends to now. */
  async freeClaimed(): Promise<void> {
    const rows = await this.#session.query(`SELECT DISTINCT site_key FROM postbacks WHERE state = 'delivering'`);
    const taken = await this.#tryTake(
      rows.map(({ site_key }) => site_key as string),
      rows.length,
    );
    await this.leaveSites(taken);
  }

  get lost(): AbortSignal {
    return this.#session.lost;
  }

  get isSure(): boolean {
    return this.#session.isSure;
  }

  async share(sites: number): Promise<number> {
    const [row] = await this.#session.query(
      `SELECT count(*) AS passes FROM pg_locks WHERE ${isAdvisoryLock} = $1`,
      [passLock(this.#storeId)],
      'count-passes',
    );
    return Math.ceil(sites / Math.max(1, row?.['passes'] as number));
  }

  async takeSites(siteKeys: readonly string[], limit: number): Promise<TakenSite[]> {
    let taken: string[] = [];
    for (let waited = 0; ; waited += betweenLooksMilliseconds) {
      taken = await this.#tryTake(siteKeys, limit);
      if (taken.length > 0 || this.#sitesHeld > 0 || waited >= patienceMilliseconds) break;
      await setTimeout(betweenLooksMilliseconds);
    }
    const circuits = await this.#session.query(
      'SELECT site_key, openings, paused_until FROM circuit_breakers WHERE site_key = ANY($1)',
      [taken],
    );
    const bySite = new Map(circuits.map((row) => [row['site_key'], row]));
    return taken.map((siteKey) => {
      const row = bySite.get(siteKey);
      return {
        siteKey,
        circuit: row && { openings: row['openings'] as number, pausedUntil: row['paused_until'] as number },
      };
    });
  }

  async leaveSites(siteKeys: readonly string[]): Promise<void> {
    if (siteKeys.length === 0) return;
    await this.#session.query('SELECT pg_advisory_unlock(key) FROM unnest($1::bigint[]) AS key', [
      siteKeys.map((siteKey) => siteLock(this.#storeId, siteKey)),
    ]);
    this.#sitesHeld -= siteKeys.length;
  }

  async apply({ finished, unsent, circuits, claims }: PassUpdate): Promise<ClaimedPostback[][]> {
    if (finished.length + unsent.length + circuits.length + claims.length === 0) return [];
    const session = this.#session;
    return session.write(async (changes) => {
      if (finished.length > 0) {
        const rows = finished.map((attempt, index) => finishedRow(attempt, changes.last + 1 + 2 * index));
        await session.query(finish, [JSON.stringify(rows)], 'finish');
        changes.last += 2 * finished.length;
      }
      if (unsent.length > 0)
        await session.query(`UPDATE postbacks SET state = 'pending' WHERE sequence = ANY($1::bigint[])`, [
          unsent.map(({ sequence }) => String(sequence)),
        ]);
      await refreshHeads(session, [
        ...finished.map(({ clickId }) => clickId),
        ...unsent.map(({ postback }) => postback.clickId),
      ]);
      await writeCircuits(session, circuits);
      return claimAll(session, claims);
    });
  }

  /** Also of sites that are still held; a session that is lost holds none. */
  async end(): Promise<void> {
    await this.#session.query('SELECT pg_advisory_unlock_all()').catch(() => undefined);
  }

  /** Releases what a worker that has ended by force had claimed of the sites taken. */
  async #tryTake(siteKeys: readonly string[], limit: number): Promise<string[]> {
    const taken: string[] = [];
    // No more at a time than are still wanted: each try that succeeds is a lock.
    for (let from = 0; from < siteKeys.length && taken.length < limit;) {
      const tried = siteKeys.slice(from, from + limit - taken.length);
      from += tried.length;
      const rows = await this.#session.query(
        'SELECT pg_try_advisory_lock(key) AS taken FROM unnest($1::bigint[]) WITH ORDINALITY AS keys (key, place) ORDER BY place',
        [tried.map((siteKey) => siteLock(this.#storeId, siteKey))],
      );
      taken.push(...tried.filter((_siteKey, index) => rows[index]?.['taken'] === true));
    }
    this.#sitesHeld += taken.length;
    if (taken.length > 0) await this.#freeClaimedOf(taken);
    return taken;
  }

  async #freeClaimedOf(siteKeys: string[]): Promise<void> {
    const session = this.#session;
    const claimed = `state = 'delivering' AND site_key = ANY($1)`;
    const found = await session.query(`SELECT FROM postbacks WHERE ${claimed} LIMIT 1`, [siteKeys]);
    if (found.length === 0) return;
    await session.write(async () => {
      const freed = await session.query(`UPDATE postbacks SET state = 'pending' WHERE ${claimed} RETURNING click_id`, [
        siteKeys,
      ]);
      await refreshHeads(
        session,
        freed.map(({ click_id }) => click_id as string),
      );
    });
  }
}

async function clampDueTimes(session: PostgresSession, now: number): Promise<void> {
  const limits = Array.from({ length: plannedAttempts }, (_, failed) => {
    const { latest, clampedAt } = dueLimit(now, failed);
    return { plan_attempts: failed, latest, clamped_at: clampedAt };
  });
  const tooFar = `FROM postbacks JOIN json_to_recordset($1) AS limits (plan_attempts int, latest bigint, clamped_at bigint)
    USING (plan_attempts) WHERE state = 'pending' AND next_attempt_at > latest`;
  const found = await session.query(`SELECT ${tooFar} LIMIT 1`, [JSON.stringify(limits)]);
  if (found.length === 0) return;
  await session.write(async (changes) => {
    changes.last += await session.change(
      `WITH too_far AS (SELECT sequence, clamped_at, row_number() OVER (ORDER BY sequence) AS place ${tooFar})
       UPDATE postbacks SET next_attempt_at = clamped_at, change = $2 + place FROM too_far
       WHERE postbacks.sequence = too_far.sequence`,
      [JSON.stringify(limits), changes.last],
    );
  });
}

async function writeCircuits(session: PostgresSession, circuits: PassUpdate['circuits']): Promise<void> {
  for (const { siteKey, open } of circuits) {
    if (open === null) await session.query('DELETE FROM circuit_breakers WHERE site_key = $1', [siteKey]);
    else
      await session.query(
        `INSERT INTO circuit_breakers (site_key, openings, paused_until) VALUES ($1, $2, $3)
         ON CONFLICT (site_key) DO UPDATE SET openings = excluded.openings, paused_until = excluded.paused_until`,
        [siteKey, open.openings, open.pausedUntil],
      );
  }
}

async function claimAll(session: PostgresSession, claims: PassUpdate['claims']): Promise<ClaimedPostback[][]> {
  if (claims.length === 0) return [];
  const wanted = claims.map(({ siteKey, dueBy, limit }) => ({ site_key: siteKey, due_by: dueBy, most: limit }));
  const rows = await session.query(claim, [JSON.stringify(wanted)], 'claim');
  const byPlace = Map.groupBy(rows, ({ place }) => place as number);
  return claims.map((_claim, index) => (byPlace.get(index + 1) ?? []).map(claimedOf));
}
