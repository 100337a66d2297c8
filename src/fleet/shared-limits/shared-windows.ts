import type { Bucket, LimitStatus, RateLimits } from '../../kit/http/sliding-windows.ts';
import type { RateLimitJournal } from '../../serve/access/rate-limit-journal.ts';
import { KnownWindows } from './known-windows.ts';
import type { KnownRequest, Parts } from './known-windows.ts';
import type { CountedInRedis, Decision, RedisSession } from './redis-session.ts';

/** What all windows of one server have in common. */
export interface Fleet {
  /** Undefined while Redis is away. */
  session: RedisSession | undefined;
  /** Milliseconds since the epoch by Redis' clock, as far as it is known. */
  redisNow(): number;
  parts: Parts;
  /** A name for a request that no other server gives. */
  nextId(): string;
  /** What Redis said last. */
  heard(decision: { now: number; serversAway: number }): void;
}

/** So many requests are told to Redis at once: others wait meanwhile, some milliseconds. */
const reportedAtOnce = 500;
/** So many windows are asked for at once. */
const windowsAtOnce = 50;
/** A restarted server does not know by how much Redis' clock differs from its own. Milliseconds. */
const clockSlack = 60_000;

/**
 * Windows of one scope over all servers: Redis decides, and what anybody counted is known and written down here, too.
 * While it is away this server decides by that about its part.
 */
export class SharedWindows implements RateLimits {
  readonly #scope: string;
  readonly #length: number;
  readonly #fleet: Fleet;
  readonly #known: KnownWindows;
  readonly #journal: RateLimitJournal | undefined;

  /**
   * `length`: of all windows of the scope, milliseconds; `journal`: none for windows that are gone in a minute;
   * `maxWindows`: see `KnownWindows`.
   */
  constructor(
    scope: string,
    length: number,
    fleet: Fleet,
    journal: RateLimitJournal | undefined,
    bounds?: { maxWindows: number },
  ) {
    this.#scope = scope;
    this.#length = length;
    this.#fleet = fleet;
    this.#known = new KnownWindows(bounds);
    this.#journal = journal;
    const now = fleet.redisNow();
    for (const { bucket, at, id, alone } of journal?.remembered(now, clockSlack) ?? [])
      this.#known.add({ name: bucket, length }, { id, at, alone }, now);
  }

  consume(bucket: Bucket, now: number): Promise<LimitStatus> {
    return this.#decide(bucket, now, this.#fleet.nextId());
  }

  peek(bucket: Bucket, now: number): Promise<LimitStatus> {
    return this.#decide(bucket, now, undefined);
  }

  async #decide(bucket: Bucket, now: number, id: string | undefined): Promise<LimitStatus> {
    const { servers } = this.#fleet.parts;
    const decision = await this.#fleet.session?.decide(this.#scope, bucket, id, servers);
    if (decision === undefined) return this.#decideAlone(bucket, now, id);
    this.#fleet.heard(decision);
    if (id !== undefined && decision.allowed) {
      this.#known.add(bucket, { id, at: decision.now, alone: false }, decision.now);
      await this.#writeDown(bucket.name, id, decision.now, false);
    }
    return statusOf(decision, bucket, now);
  }

  async #decideAlone(bucket: Bucket, now: number, id: string | undefined): Promise<LimitStatus> {
    const redisNow = this.#fleet.redisNow();
    const { parts } = this.#fleet;
    const status =
      id === undefined ? this.#known.peek(bucket, redisNow, parts) : this.#known.consume(bucket, id, redisNow, parts);
    if (id !== undefined && status.allowed) await this.#writeDown(bucket.name, id, redisNow, true);
    return { ...status, resetAt: status.resetAt - redisNow + now, freeAt: status.freeAt - redisNow + now };
  }

  /** What another server counted. */
  hear({ name, id, at }: CountedInRedis): void {
    this.#learn(name, id, at);
  }

  /** Learns what Redis has and tells it what it lacks. Returns whether it lacked anything. Throws where that fails. */
  async compare(session: RedisSession): Promise<boolean> {
    const names = new Set(this.#known.names());
    for await (const name of session.windowNames(this.#scope)) names.add(name);
    const all = [...names];
    let lacked = 0;
    for (let from = 0; from < all.length; from += windowsAtOnce) {
      const some = all.slice(from, from + windowsAtOnce).map((name) => this.#compareOne(session, name));
      for (const count of await Promise.all(some)) lacked += count;
    }
    return lacked > 0;
  }

  async #compareOne(session: RedisSession, name: string): Promise<number> {
    const there = new Map<string, number>();
    for await (const [id, at] of session.countedIn(this.#scope, name)) there.set(id, at);
    // What was let in alone may have been counted before, when Redis' answer was late: the later moment holds.
    const untold = this.#known
      .requests(name, this.#fleet.redisNow())
      .filter(({ id, alone }) => alone || !there.has(id));
    for (const [id, at] of there) this.#learn(name, id, at);
    let lacked = 0;
    for (const some of piecesOf(untold))
      lacked += await session.report(this.#scope, { name, length: this.#length }, some);
    return lacked;
  }

  /**
   * Tells what was let in alone, before anything else that is asked of the session from now on. From here on it is a
   * request as all others.
   */
  handOver(session: RedisSession): Promise<unknown> {
    const reports: Promise<number>[] = [];
    for (const [name, requests] of this.#known.handOver(this.#fleet.redisNow()))
      for (const some of piecesOf(requests))
        reports.push(session.report(this.#scope, { name, length: this.#length }, some));
    return Promise.all(reports);
  }

  #learn(name: string, id: string, at: number): void {
    const window = { name, length: this.#length };
    if (this.#known.add(window, { id, at, alone: false }, this.#fleet.redisNow()))
      void this.#writeDown(name, id, at, false);
  }

  async #writeDown(name: string, id: string, at: number, alone: boolean): Promise<void> {
    const request = { bucket: name, at, expiresAt: at + this.#length, id, alone };
    await this.#journal?.counted(request, this.#fleet.redisNow());
  }
}

function* piecesOf(requests: readonly KnownRequest[]): Generator<readonly KnownRequest[], void, undefined> {
  for (let from = 0; from < requests.length; from += reportedAtOnce) yield requests.slice(from, from + reportedAtOnce);
}

/** What Redis said, by this server's clock. */
function statusOf(
  { allowed, room, counted, now: redisNow, oldestAt, blockingAt }: Decision,
  bucket: Bucket,
  now: number,
) {
  const leavesAt = (at: number) => (at === 0 ? now : at + bucket.length - redisNow + now);
  return {
    allowed,
    limit: bucket.limit,
    remaining: Math.max(0, room - counted),
    resetAt: leavesAt(oldestAt),
    freeAt: leavesAt(blockingAt),
  } satisfies LimitStatus;
}
