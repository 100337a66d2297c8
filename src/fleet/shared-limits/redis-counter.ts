import type { LimitBucket } from '../../kit/http/sliding-windows.ts';

/** No request waits longer for Redis. Milliseconds. */
export const redisPatience = 200;
/** Milliseconds until Redis is tried again. */
const retryMilliseconds = 500;

const prefix = 'offerline:limits:';

/** A window that every new connection counts in, under one name: there always is room. */
const connection = { limit: 2, length: 1000 };

/** Lua that sets `now`, milliseconds since the epoch: Redis' own clock, one for all servers. */
const redisClock = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)`;

/**
 * Counts a request where there is room, or only looks where it has no name. A window is a sorted set: names of counted
 * requests by their moment. Keys: the window. Arguments: limit, length, the request's name.
 */
const decide = `
local window, limit, length, id = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3]
redis.call('ZREMRANGEBYSCORE', window, '-inf', string.format('%.0f', now - length))
-- Moments beyond a whole window ahead were counted before a clock was set back: nobody shall wait for them.
redis.call('ZREMRANGEBYSCORE', window, string.format('%.0f', now + length), '+inf')
local counted = redis.call('ZCARD', window)
local allowed = counted < limit
if allowed and id ~= '' then
  redis.call('ZADD', window, string.format('%.0f', now), id)
  redis.call('PEXPIRE', window, string.format('%.0f', length))
  counted = counted + 1
end
local function momentAt(place) return tonumber(redis.call('ZRANGE', window, place, place, 'WITHSCORES')[2] or 0) end
local blocking = 0
if counted >= limit then blocking = momentAt(counted - limit) end
return { allowed and 1 or 0, counted, now, momentAt(0), blocking }`;

/** Milliseconds for which a server is counted after its last report. */
const reportedFor = 60_000;

/** Reports a server and counts those that have lately. Keys: the servers. Arguments: the server's id. */
const reportServer = `
local length = ${reportedFor}
redis.call('ZADD', KEYS[1], string.format('%.0f', now), ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now - length))
redis.call('ZREMRANGEBYSCORE', KEYS[1], string.format('(%.0f', now), '+inf')
redis.call('PEXPIRE', KEYS[1], string.format('%.0f', length))
return redis.call('ZCARD', KEYS[1])`;

/** A window in Redis after a request. Moments are by Redis' clock. */
export interface Decision {
  allowed: boolean;
  counted: number;
  now: number;
  /** Moments of the oldest counted request, and of the one that has to leave before the next has room; 0 for none. */
  oldestAt: number;
  blockingAt: number;
}

export interface RedisCounterOptions {
  /** `redis://` or `rediss://`. */
  address: string;
  /** Lua that sets `now`, where tests move it. Default: Redis' own clock. */
  clock?: string | undefined;
  /** Milliseconds, where tests of what is counted have to wait for a busy machine. Default: `redisPatience`. */
  patience?: number | undefined;
  /** Redis is away: said once until it is back. */
  onLost: (reason: string) => void;
  onBack: () => void;
}

/** The part of the client that is used; its own type takes seconds to check. */
interface Client {
  connect(): Promise<unknown>;
  destroy(): void;
  sendCommand(words: readonly string[]): Promise<unknown>;
  on(event: 'error', listener: (error: Error) => void): unknown;
}

/**
 * Windows in Redis, while it is there. After a first trouble (refused, late, read-only, loading) nothing more is asked
 * until a new connection can write.
 */
export class RedisCounter {
  readonly #options: RedisCounterOptions;
  readonly #script: string;
  readonly #patience: number;
  #client: Client | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  private constructor(options: RedisCounterOptions) {
    this.#options = options;
    this.#script = (options.clock ?? redisClock) + decide;
    this.#patience = options.patience ?? redisPatience;
  }

  /** Returns when Redis counts, or is known to be away. */
  static async open(options: RedisCounterOptions): Promise<RedisCounter> {
    const counter = new RedisCounter(options);
    const reason = await counter.#connect();
    if (reason !== undefined) counter.#beAway(reason);
    return counter;
  }

  /** True while Redis counts. */
  get isThere(): boolean {
    return this.#client !== undefined;
  }

  /**
   * Counts a request of this name where there is room; without a name only looks. Undefined where Redis is away: it may
   * have counted the request all the same.
   */
  async count(scope: string, { name, limit, length }: LimitBucket, id = ''): Promise<Decision | undefined> {
    const client = this.#client;
    if (client === undefined) return undefined;
    try {
      const reply = await this.#ask(client, `${scope}:${name}`, { limit, length }, id);
      const [allowed, counted = 0, now = 0, oldestAt = 0, blockingAt = 0] = reply;
      return { allowed: allowed === 1, counted, now, oldestAt, blockingAt };
    } catch (error) {
      this.#lose(client, error as Error);
      return undefined;
    }
  }

  /**
   * Reports a server under its id. Returns how many have within a minute, this one included; undefined where Redis is
   * away.
   */
  async countServers(server: string): Promise<number | undefined> {
    const client = this.#client;
    if (client === undefined) return undefined;
    const script = (this.#options.clock ?? redisClock) + reportServer;
    try {
      const words = ['EVAL', script, '1', `${prefix}servers`, server];
      return (await inTime(client.sendCommand(words), this.#patience)) as number;
    } catch (error) {
      this.#lose(client, error as Error);
      return undefined;
    }
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#client?.destroy();
    this.#client = undefined;
  }

  /** Runs the script on a window. Throws where Redis refuses it, or is late. */
  async #ask(
    client: Client,
    window: string,
    { limit, length }: Omit<LimitBucket, 'name'>,
    id: string,
  ): Promise<number[]> {
    const words = ['EVAL', this.#script, '1', `${prefix}${window}`, String(limit), String(length), id];
    return (await inTime(client.sendCommand(words), this.#patience)) as number[];
  }

  /** Undefined where Redis counts from now on, else the reason why it cannot. */
  async #connect(): Promise<string | undefined> {
    // The library is loaded where Redis is configured, and nowhere else.
    const { createClient } = await import('@redis/client');
    const client = createClient({
      url: this.#options.address,
      socket: { connectTimeout: 1000, reconnectStrategy: false },
      disableOfflineQueue: true,
      maintNotifications: 'disabled',
      // Answers are waited for here: the client's own timeout is for commands that are not sent yet.
      commandOptions: { timeout: 0 },
    }) as unknown as Client;
    client.on('error', (error) => this.#lose(client, error));
    try {
      await inTime(client.connect(), 2_000);
      // A replica, a Redis that loads its data, or one whose user may run no script answers, and counts nothing.
      await this.#ask(client, 'connection', connection, 'connection');
      if (this.#isClosed) throw new Error('the service is closed');
      this.#client = client;
      return undefined;
    } catch (error) {
      client.destroy();
      return reasonOf(error as Error);
    }
  }

  #lose(client: Client, error: Error): void {
    if (this.#client !== client) return;
    client.destroy();
    this.#beAway(reasonOf(error));
  }

  #beAway(reason: string): void {
    this.#client = undefined;
    this.#options.onLost(reason);
    this.#retryLater();
  }

  #retryLater(): void {
    if (!this.#isClosed) this.#timer = setTimeout(() => void this.#retry(), retryMilliseconds).unref();
  }

  async #retry(): Promise<void> {
    if ((await this.#connect()) === undefined) this.#options.onBack();
    else this.#retryLater();
  }
}

/** Throws where a reply is late. */
async function inTime<Reply>(reply: Promise<Reply>, milliseconds: number): Promise<Reply> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const isLate = () => reject(new Error(`no answer within ${milliseconds} ms`));
    // A turn later: this process may have been too busy to read an answer that has come.
    timer = setTimeout(() => setImmediate(isLate), milliseconds);
  });
  try {
    return await Promise.race([reply, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The mistake, also where several addresses were tried. */
function reasonOf(error: Error): string {
  if (error instanceof AggregateError && error.message === '')
    return error.errors.map((one) => (one as Error).message).join('; ');
  return error.message;
}
