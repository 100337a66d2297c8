import type { Bucket } from '../../kit/http/sliding-windows.ts';
import type { Script, Scripts } from './redis-scripts.ts';
import { countedChannel, presentChannel, windowKey, windowKeys } from './redis-scripts.ts';

/**
 * No request waits longer for Redis, milliseconds: counted in ticks, of which a time in which this process was too busy
 * to hear an answer is one.
 */
const requestMilliseconds = 200;
const tickMilliseconds = 40;
/** What no request waits for may take so long. Milliseconds. */
const backgroundMilliseconds = 5_000;

/** A request that was counted in a window, by whichever server. Moments are Redis' milliseconds since the epoch. */
export interface CountedInRedis {
  scope: string;
  /** Of the window. */
  name: string;
  /** Of the window, milliseconds. */
  length: number;
  id: string;
  at: number;
  /** As `Decision` has it, where whoever counted it knew. */
  serversAway: number | undefined;
}

/** What Redis says of a window. Moments are its own. */
export interface Decision {
  allowed: boolean;
  /** How much of the limit can be used: less than all while parts are kept for servers that are away. */
  room: number;
  counted: number;
  now: number;
  /** Of the oldest counted request, and of the one that has to leave before the next has room; 0 for none. */
  oldestAt: number;
  blockingAt: number;
  serversAway: number;
}

export interface SessionEvents {
  /** Somebody counted a request. */
  counted(request: CountedInRedis): void;
  /** The session is over; said once. */
  lost(reason: string): void;
}

/** As much as is used of the client, whose own type takes seconds to check. */
interface Client {
  connect(): Promise<unknown>;
  destroy(): void;
  sendCommand(words: readonly string[]): Promise<unknown>;
  subscribe(channel: string, listener: (text: string) => void): Promise<void>;
  on(event: 'error', listener: (error: Error) => void): unknown;
}

/**
 * One connection to Redis, from its opening to its first trouble: late, refused, read-only or closed, it is over and
 * another is opened. Commands are sent in the order in which they are asked for, so what is told by one is known to
 * the next.
 */
export class RedisSession {
  readonly #client: Client;
  readonly #scripts: Scripts;
  readonly #events: SessionEvents;
  #isLost = false;
  #told: Promise<unknown> | undefined;
  /** Since which tick each request waits, the longest first. */
  readonly #waiting = new Set<{ since: number }>();
  #ticks = 0;
  #ticker: NodeJS.Timeout | undefined;

  private constructor(client: Client, scripts: Scripts, events: SessionEvents) {
    this.#client = client;
    this.#scripts = scripts;
    this.#events = events;
  }

  /** Connects and listens to what others count. Throws what keeps it from that; then nothing is told as lost. */
  static async open(address: string, scripts: Scripts, events: SessionEvents): Promise<RedisSession> {
    // The library is loaded where Redis is configured, and nowhere else.
    const { createClient } = await import('@redis/client');
    const client = createClient({
      url: address,
      socket: { connectTimeout: 1000, reconnectStrategy: false },
      disableOfflineQueue: true,
      maintNotifications: 'disabled',
      // We wait for answers by ourselves: theirs is for what has not been sent yet, and costs a timer each.
      commandOptions: { timeout: 0 },
    }) as unknown as Client;
    const session = new RedisSession(client, scripts, events);
    let isOpen = false;
    client.on('error', (error) => {
      if (isOpen) session.#lose(reasonOf(error));
    });
    try {
      await inTime(client.connect());
      for (const { text } of Object.values(scripts) as Script[])
        await inTime(client.sendCommand(['SCRIPT', 'LOAD', text]));
      await inTime(client.subscribe(countedChannel, (text) => events.counted(parseCounted(text))));
    } catch (error) {
      client.destroy();
      throw error;
    }
    isOpen = true;
    return session;
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  /**
   * Counts a request of this name where there is room; without a name only looks. Undefined where Redis did not answer
   * in time or not as it should: then the session is over, and Redis may or may not have counted it. Returns when the
   * others are told, too: else one that Redis told last before its end would be known here alone.
   */
  async decide(
    scope: string,
    { name, limit, length }: Bucket,
    id: string | undefined,
    servers: number,
  ): Promise<Decision | undefined> {
    const words = [id ?? '', String(limit), String(length), String(servers), scope, name];
    const decided = this.#run(this.#scripts.decide, [windowKey(scope, name)], words).then(async (reply) => {
      const [allowed, room = 0, counted = 0, now = 0, oldestAt = 0, blockingAt = 0, serversAway = 0] =
        reply as number[];
      if (allowed === 1 && id !== undefined) await this.#othersAreTold();
      return { allowed: allowed === 1, room, counted, now, oldestAt, blockingAt, serversAway };
    });
    return this.#inSession(decided);
  }

  /**
   * Redis writes to all its clients before it reads again, so what it answers to a question that is asked now was
   * written after what it had told before. One question for all requests of a turn of the event loop.
   */
  #othersAreTold(): Promise<unknown> {
    return (this.#told ??= new Promise((resolve) => {
      setImmediate(() => {
        this.#told = undefined;
        resolve(this.#client.sendCommand(['PING']));
      });
    }));
  }

  /** Redis' moment. */
  async now(): Promise<number> {
    return Number(await inTime(this.#run(this.#scripts.tell, [], [])));
  }

  /** Names of all windows of a scope. */
  async *windowNames(scope: string): AsyncGenerator<string, void, undefined> {
    let cursor = '0';
    do {
      const words = ['SCAN', cursor, 'MATCH', `${windowKeys(scope)}*`, 'COUNT', '1000'];
      const [next, keys] = (await inTime(this.#client.sendCommand(words))) as [string, string[]];
      for (const key of keys) yield key.slice(windowKeys(scope).length);
      cursor = next;
    } while (cursor !== '0');
  }

  /** The requests counted in one window, as pairs of name and moment. */
  async *countedIn(scope: string, name: string): AsyncGenerator<[id: string, at: number], void, undefined> {
    let cursor = '0';
    do {
      const words = ['ZSCAN', windowKey(scope, name), cursor, 'COUNT', '1000'];
      const [next, flat] = (await inTime(this.#client.sendCommand(words))) as [string, string[]];
      for (let place = 0; place < flat.length; place += 2) yield [flat[place] as string, Number(flat[place + 1])];
      cursor = next;
    } while (cursor !== '0');
  }

  /** Counts these requests of one window where Redis lacks them. Returns how many it lacked. */
  async report(
    scope: string,
    { name, length }: Pick<Bucket, 'name' | 'length'>,
    requests: readonly { id: string; at: number }[],
  ): Promise<number> {
    const words = [scope, String(length), name, ...requests.flatMap(({ id, at }) => [String(at), id])];
    return Number(await inTime(this.#run(this.#scripts.report, [windowKey(scope, name)], words)));
  }

  /**
   * Counts here from now on. `keepMilliseconds`: for how long the parts of servers that have not come back are kept, 0
   * for not at all. Returns Redis' moment.
   */
  async join(keepMilliseconds: number): Promise<number> {
    const joined = this.#run(this.#scripts.join, [], [String(keepMilliseconds)]);
    const listening = this.#client.subscribe(presentChannel, () => undefined);
    const [now] = await inTime(Promise.all([joined, listening]));
    return Number(now);
  }

  /** Redis' moment, and how many servers are away; undefined where the session is over. */
  async look(servers: number): Promise<{ now: number; serversAway: number } | undefined> {
    const reply = await this.#inSession(this.#run(this.#scripts.look, [], [String(servers)]));
    if (reply === undefined) return undefined;
    const [now = 0, serversAway = 0] = reply as number[];
    return { now, serversAway };
  }

  /** Ends it without a word. */
  close(): void {
    this.#isLost = true;
    clearInterval(this.#ticker);
    this.#client.destroy();
  }

  /** By the script's digest; by its text where Redis forgot it. */
  async #run({ text, digest }: Script, keys: readonly string[], words: readonly string[]): Promise<unknown> {
    const more = [String(keys.length), ...keys, ...words];
    try {
      return await this.#client.sendCommand(['EVALSHA', digest, ...more]);
    } catch (error) {
      if (!(error as Error).message.startsWith('NOSCRIPT')) throw error;
      return this.#client.sendCommand(['EVAL', text, ...more]);
    }
  }

  async #inSession<Reply>(reply: Promise<Reply>): Promise<Reply | undefined> {
    const waiting = { since: this.#ticks };
    this.#waiting.add(waiting);
    this.#ticker ??= setInterval(() => this.#tick(), tickMilliseconds);
    try {
      return await reply;
    } catch (error) {
      this.#lose(reasonOf(error as Error));
      return undefined;
    } finally {
      this.#waiting.delete(waiting);
    }
  }

  #tick(): void {
    this.#ticks++;
    const [longest] = this.#waiting;
    if (longest === undefined) {
      clearInterval(this.#ticker);
      this.#ticker = undefined;
    } else if ((this.#ticks - longest.since) * tickMilliseconds >= requestMilliseconds)
      this.#lose(`no answer within ${requestMilliseconds} ms`);
  }

  #lose(reason: string): void {
    if (this.#isLost) return;
    this.close();
    this.#events.lost(reason);
  }
}

/** Throws where a reply is late. */
async function inTime<Reply>(reply: Promise<Reply>): Promise<Reply> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`no answer within ${backgroundMilliseconds} ms`)),
      backgroundMilliseconds,
    );
  });
  try {
    return await Promise.race([reply, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** What went wrong, also where several addresses were tried. */
export function reasonOf(error: Error): string {
  if (error instanceof AggregateError && error.message === '')
    return error.errors.map((one) => (one as Error).message).join('; ');
  return error.message;
}

function parseCounted(text: string): CountedInRedis {
  const [scope = '', id = '', at = '', length = '', away = '', ...name] = text.split(' ');
  const serversAway = away === '-' ? undefined : Number(away);
  return { scope, id, at: Number(at), length: Number(length), serversAway, name: name.join(' ') };
}
