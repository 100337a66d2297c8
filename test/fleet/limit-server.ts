import { pino } from 'pino';
import { onTestFinished, vi } from 'vitest';
import type { DataDirectory } from '../../src/kit/config/data-directory.ts';
import { Metrics } from '../../src/kit/metrics/metrics.ts';
import type { RequestLimits } from '../../src/serve/access/limits.ts';
import { hourly } from '../../src/serve/access/limits.ts';
import { openRedisLimits } from '../../src/fleet/shared-limits/shared-limits.ts';
import type { Site } from '../../src/kit/sites/sites.ts';
import { temporaryData } from '../support/published-snapshot.ts';
import type { RedisServer } from './redis-server.ts';

/** Hours that a test lets pass: one clock for Redis and all servers. */
export class MovedClock {
  readonly #redis: RedisServer;
  now = Date.UTC(2026, 10, 20, 12);

  constructor(redis: RedisServer) {
    this.#redis = redis;
  }

  /** Lua that sets `now` in place of Redis' own clock. */
  readonly lua = `local now = tonumber(redis.call('GET', 'clock of the test'))`;

  /** What tells Redis the time. */
  get command(): string[] {
    return ['SET', 'clock of the test', String(this.now)];
  }

  /** For Redis, too, unless it is to hear of it when it starts. */
  async move(milliseconds: number, tellRedis = true): Promise<void> {
    this.now += milliseconds;
    if (tellRedis) await this.#redis.command(...this.command);
  }
}

const rule = hourly('C offers');

/** One server's limits, as its service would ask for them. */
export class LimitServer {
  readonly data: DataDirectory;
  readonly #redis: RedisServer;
  readonly #clock: MovedClock;
  readonly #servers: number;
  readonly #patience: number;
  readonly log: { level: number; msg: string; reason?: string }[] = [];
  #limits: RequestLimits | undefined;
  #metrics = new Metrics();

  private constructor(data: DataDirectory, redis: RedisServer, clock: MovedClock, servers: number, patience: number) {
    this.data = data;
    this.#redis = redis;
    this.#clock = clock;
    this.#servers = servers;
    this.#patience = patience;
  }

  /**
   * One of so many, with a data directory of its own; gone when the running test ends. What is counted does not hang on
   * how busy the machine is: where no other `patience` is given, it waits for a Redis that is there.
   */
  static async forTest(
    redis: RedisServer,
    clock: MovedClock,
    servers: number,
    patience = 60_000,
  ): Promise<LimitServer> {
    const { data, remove } = await temporaryData();
    const server = new LimitServer(data, redis, clock, servers, patience);
    onTestFinished(async () => {
      server.end();
      await remove();
    });
    await server.start();
    return server;
  }

  async start(): Promise<void> {
    this.#metrics = new Metrics();
    this.#limits = await openRedisLimits({
      data: this.data,
      settings: { redis: this.#redis.address, servers: this.#servers },
      now: () => this.#clock.now,
      log: pino({}, { write: (line: string) => void this.log.push(JSON.parse(line)) }),
      metrics: this.#metrics,
      clock: this.#clock.lua,
      patience: this.#patience,
    });
  }

  /** Each request is written down as it is counted, so this is as good as a kill. */
  end(): void {
    this.#limits?.close();
    this.#limits = undefined;
  }

  get limits(): RequestLimits {
    if (this.#limits === undefined) throw new Error('it is not running');
    return this.#limits;
  }

  async ask(site: Site, counts = true) {
    return this.limits.check(rule, site, () => '192.0.2.1', this.#clock.now, counts);
  }

  /** Returns when it reports by its metrics that Redis counts, or that it does not. */
  async counting(inRedis: boolean): Promise<void> {
    await vi.waitFor(
      async () => {
        if (!(await this.#metrics.text()).includes(`\nofferline_limits_shared ${inRedis ? 1 : 0}\n`))
          throw new Error(`waits for ${inRedis}`);
      },
      { timeout: 20_000, interval: 10 },
    );
  }
}

export function siteOf(limit: number): Site {
  return { site_key: 's', rate_limit_per_hour: limit } as Site;
}

/** Of moments that need not be in order: the most that lie within less than the length. */
export function mostWithin(moments: readonly number[], length: number): number {
  const sorted = moments.toSorted((one, other) => one - other);
  let first = 0;
  let most = 0;
  for (const [place, at] of sorted.entries()) {
    while (at - (sorted[first] ?? at) >= length) first++;
    most = Math.max(most, place - first + 1);
  }
  return most;
}
