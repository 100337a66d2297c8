import { Agent, Client, Pool } from 'undici';
import type { Dispatcher } from 'undici';
import { realEffects } from '../../kit/files/effects.ts';
import { guardedConnector } from '../../kit/guard/address-guard.ts';
import type { Lookup } from '../../kit/guard/name-lookup.ts';
import { Attempt } from './attempt.ts';
import { withExampleRoute } from './example-route.ts';
import type { Outcome } from '../rules/outcome.ts';
import type { PostbackRequest } from './postback-request.ts';

export type { Outcome, OutcomeError } from '../rules/outcome.ts';

export interface PostbackSender {
  /**
   * Sends once. Never throws for what a receiver does; the outcome is known within the deadline, which counts from
   * `since`, a moment of `performance.now()`. Nothing is sent after it.
   */
  send(request: PostbackRequest, since?: number): Promise<Outcome>;
  /** Waits for what is under way, at most for the deadline, and closes all connections. */
  close(): Promise<void>;
}

export interface SenderOptions {
  /** True where addresses of private networks may be reached. */
  allowPrivate: boolean;
  /** Port on loopback of a demo's receiver, which gets requests to all names that are kept for examples. */
  exampleReceiverPort?: number | undefined;
  /** Deadline for looking up the host, connecting, sending and reading the response together. */
  deadlineMilliseconds?: number;
  lookup?: Lookup;
  /** In milliseconds since the epoch. */
  now?: () => number;
}

/** A sender keeps connections and uses them again; how many requests run at once is the caller's decision. */
export function createSender({
  allowPrivate,
  exampleReceiverPort,
  deadlineMilliseconds = 15_000,
  lookup,
  now = () => realEffects.now(),
}: SenderOptions): PostbackSender {
  const guarded = guardedConnector({ allowPrivate, connectMilliseconds: deadlineMilliseconds, lookup });
  const connect = exampleReceiverPort === undefined ? guarded : withExampleRoute(exampleReceiverPort, guarded);
  // undici's own time limits are per part of a response: one that drips in would outlast them.
  const options: Agent.Options = { connect, allowH2: false, headersTimeout: 0, bodyTimeout: 0 };
  const agents = {
    kept: new Agent({
      ...options,
      factory: (origin) => new Pool(origin, { ...options, factory: (to, client) => new CountingClient(to, client) }),
    }),
    fresh: new Agent({ ...options, pipelining: 0 }),
  };
  const underWay = new Set<Promise<Outcome>>();
  return {
    send: (request, since = performance.now()) => {
      const outcome = new Promise<Outcome>((resolve) =>
        new Attempt(request, { agents, since, deadlineMilliseconds, now }, resolve).start(),
      );
      underWay.add(outcome);
      void outcome.then(() => underWay.delete(outcome));
      return outcome;
    },
    close: async () => {
      await Promise.all(underWay);
      await Promise.all([agents.kept.destroy(), agents.fresh.destroy()]);
    },
  };
}

/** The client of one connection at a time. It says to an attempt whether its connection has served others before. */
class CountingClient extends Client {
  #served = false;

  constructor(origin: string | URL, options: Client.Options) {
    super(origin, options);
    this.on('connect', () => {
      this.#served = false;
    });
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    if (handler instanceof Attempt) {
      handler.connectionServed = () => {
        const served = this.#served;
        this.#served = true;
        return served;
      };
    }
    return super.dispatch(options, handler);
  }
}
