import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { readSecret, Redactor } from '../../kit/config/secrets.ts';
import { isRedisAddress } from '../../kit/config/settings.ts';
import type { Settings } from '../../kit/config/settings.ts';
import { UsageError } from '../../kit/errors/errors.ts';
import type { Metrics } from '../../kit/metrics/metrics.ts';
import { maxClients, openJournals, RequestLimits } from '../../serve/access/limits.ts';
import { hour, maxFailingAddresses, minute } from '../../kit/http/sliding-windows.ts';
import { redisClock, scriptsBy } from './redis-scripts.ts';
import type { Scripts } from './redis-scripts.ts';
import { reasonOf, RedisSession } from './redis-session.ts';
import type { CountedInRedis } from './redis-session.ts';
import type { Fleet } from './shared-windows.ts';
import { SharedWindows } from './shared-windows.ts';

/** How soon Redis is tried again, and how often it is asked where no request asks. Milliseconds. */
const retryMilliseconds = 500;
const lookMilliseconds = 2_000;

export interface SharedLimitsOptions {
  data: DataDirectory;
  settings: NonNullable<Settings['limits']>;
  /** Wall clock, milliseconds since the epoch. */
  now: () => number;
  log: Logger;
  metrics: Metrics;
  /** Lua that sets `now`, where tests move it. Default: Redis' own clock. */
  clock?: string;
}

/**
 * Limits over several servers, counted in Redis. While it is away, each server decides by what it knows about its part,
 * and tries again in the background.
 */
export class SharedLimits implements Fleet {
  /** The limits as the service asks for them; closed by `close`. */
  readonly limits: RequestLimits;
  readonly parts: { servers: number; apart: number };
  session: RedisSession | undefined;
  readonly #address: string;
  readonly #scripts: Scripts;
  readonly #windows: ReadonlyMap<string, SharedWindows>;
  readonly #now: () => number;
  readonly #log: Logger;
  readonly #redactor: Redactor;
  readonly #idPrefix = randomBytes(6).toString('base64url');
  #ids = 0;
  /** How far Redis' clock is ahead of this one, milliseconds. */
  #ahead = 0;
  #losses = 0;
  #isConnecting = false;
  #isClosed = false;
  #timer: NodeJS.Timeout | undefined;

  private constructor({ data, settings, now, log, metrics, clock = redisClock }: SharedLimitsOptions) {
    metrics.gauge(
      'offerline_limits_shared',
      'Whether rate limits are counted in Redis over all servers; 0 while it is away and this server allows its part.',
      () => (this.session === undefined ? 0 : 1),
    );
    this.#address = readSecret('limits.redis', settings.redis);
    if (!isRedisAddress(this.#address))
      throw new UsageError('limits.redis: what it refers to is not an address such as redis://host:6379/0');
    const { password } = new URL(this.#address);
    this.#redactor = new Redactor([this.#address, password, decodeURIComponent(password)]);
    this.#scripts = scriptsBy(clock);
    this.#now = now;
    this.#log = log;
    this.parts = { servers: settings.servers, apart: 0 };
    const { sites, clients } = openJournals(data, now(), log);
    const site = new SharedWindows('site', hour, this, sites);
    const client = new SharedWindows('client', minute, this, clients, { maxWindows: maxClients });
    const failure = new SharedWindows('failure', minute, this, undefined, { maxWindows: maxFailingAddresses });
    this.#windows = new Map([
      ['site', site],
      ['client', client],
      ['failure', failure],
    ]);
    this.limits = new RequestLimits({ site, address: client }, failure, () => {
      this.#close();
      sites.close();
      clients.close();
    });
  }

  /**
   * Returns when Redis counts, or is known to be away. Throws `UsageError` where its address cannot be used, and
   * `OfferlineError` where the journals cannot be written.
   */
  static async open(options: SharedLimitsOptions): Promise<SharedLimits> {
    const shared = new SharedLimits(options);
    // What was counted before this start is in Redis, unless it lost it; so the others need not wait for anybody.
    const reason = await shared.#connect(false);
    if (reason === undefined) return shared;
    // Nor is it known here whether the others heard of what the journal tells.
    shared.parts.apart = shared.parts.servers - 1;
    shared.#beAway(reason);
    return shared;
  }

  redisNow(): number {
    return this.#now() + this.#ahead;
  }

  nextId(): string {
    return `${this.#idPrefix}.${(this.#ids++).toString(36)}`;
  }

  heard({ now, serversAway }: { now: number; serversAway: number }): void {
    this.#ahead = now - this.#now();
    this.parts.apart = serversAway;
  }

  /** Undefined where Redis counts from now on, else what keeps it from that. */
  async #connect(wasAway: boolean): Promise<string | undefined> {
    let session: RedisSession | undefined;
    this.#isConnecting = true;
    try {
      session = await RedisSession.open(this.#address, this.#scripts, {
        counted: (request) => this.#counted(request),
        lost: (reason) => this.#lost(reason),
      });
      this.#ahead = (await session.now()) - this.#now();
      let lacked = false;
      for (const windows of this.#windows.values()) if (await windows.compare(session)) lacked = true;
      if (this.#isClosed) throw new Error('the service is closed');
      if (session.isLost) throw new Error('the connection was closed');
      // Nothing may come between these, or a request let in meanwhile would be told by nobody.
      const reports = [...this.#windows.values()].map((windows) => windows.handOver(session as RedisSession));
      const keep = wasAway || lacked ? hour : 0;
      const joined = session.join(keep);
      this.session = session;
      if (keep > 0) this.parts.apart = this.parts.servers - 1;
      const [now] = await Promise.all([joined, ...reports]);
      this.#ahead = now - this.#now();
    } catch (error) {
      session?.close();
      this.session = undefined;
      return reasonOf(error as Error);
    } finally {
      this.#isConnecting = false;
    }
    this.#again(lookMilliseconds, () => this.#look());
    return undefined;
  }

  #counted(request: CountedInRedis): void {
    // Its own are known by Redis' answer, or, without one, are let in alone.
    if (!request.id.startsWith(`${this.#idPrefix}.`)) this.#windows.get(request.scope)?.hear(request);
    if (this.session !== undefined && request.serversAway !== undefined) this.parts.apart = request.serversAway;
  }

  /** While no request asks, too, Redis is to hear of this server, and its clock and end are to be known here. */
  async #look(): Promise<void> {
    const heard = await this.session?.look(this.parts.servers);
    if (heard === undefined) return;
    this.heard(heard);
    this.#again(lookMilliseconds, () => this.#look());
  }

  #lost(reason: string): void {
    // Who connects is told by what fails.
    if (this.#isConnecting) return;
    this.#losses++;
    this.#beAway(reason);
  }

  #beAway(reason: string): void {
    this.session = undefined;
    this.#log.error(
      { reason: this.#redactor.redact(reason), servers: this.parts.servers },
      'Redis does not count the rate limits: until it does, this server allows its part of them by what it knows',
    );
    this.#again(retryMilliseconds, () => this.#retry());
  }

  async #retry(): Promise<void> {
    const reason = await this.#connect(true);
    if (reason === undefined) this.#log.info('Redis counts the rate limits again');
    else this.#again(retryMilliseconds, () => this.#retry());
  }

  #again(milliseconds: number, task: () => Promise<void>): void {
    clearTimeout(this.#timer);
    if (!this.#isClosed) this.#timer = setTimeout(() => void task(), milliseconds).unref();
  }

  #close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.session?.close();
    this.session = undefined;
  }
}
