import { Agent, type AgentOptions, type ClientRequestArgs } from 'node:http';
import type { Duplex } from 'node:stream';
import type { buildConnector } from 'undici';
import { realEffects } from '../../kit/files/effects.ts';
import { guardedConnector } from '../../kit/guard/address-guard.ts';
import type { Lookup } from '../../kit/guard/name-lookup.ts';
import { Attempt, type AgentsByProtocol } from './attempt.ts';
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

/** A connection that has no request is closed. */
const maxIdleMilliseconds = 4000;

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
  const agents = {
    kept: agentsWith(connect, { keepAlive: true, timeout: maxIdleMilliseconds }),
    fresh: agentsWith(connect, { keepAlive: false }),
  };
  let isClosed = false;
  const underWay = new Set<Promise<Outcome>>();
  return {
    send: (request, since = performance.now()) => {
      const outcome = new Promise<Outcome>((resolve) => {
        const attempt = new Attempt(request, { agents, since, deadlineMilliseconds, now }, resolve);
        if (isClosed) attempt.refuse();
        else attempt.start();
      });
      underWay.add(outcome);
      void outcome.then(() => underWay.delete(outcome));
      return outcome;
    },
    close: async () => {
      await Promise.all(underWay);
      isClosed = true;
      for (const agent of Object.values(agents).flatMap((each) => Object.values(each))) agent.destroy();
    },
  };
}

function agentsWith(connect: buildConnector.connector, options: AgentOptions): AgentsByProtocol {
  return {
    'http:': new ConnectorAgent(connect, { ...options, protocol: 'http:', defaultPort: 80 }),
    'https:': new ConnectorAgent(connect, { ...options, protocol: 'https:', defaultPort: 443 }),
  };
}

/** Makes connections by a connector alone, which has looked at the address before anything is sent to it. */
class ConnectorAgent extends Agent {
  readonly #connect: buildConnector.connector;
  readonly #protocol: string;

  constructor(connect: buildConnector.connector, options: AgentOptions & { protocol: string }) {
    super(options);
    this.#connect = connect;
    this.#protocol = options.protocol;
  }

  override createConnection(
    { host, port }: ClientRequestArgs,
    callback: (error: Error | null, socket: Duplex) => void,
  ): undefined {
    const name = host ?? '';
    const hostname = name.replace(/^\[(.*)\]$/, '$1');
    this.#connect({ protocol: this.#protocol, hostname, host: name, port: String(port) }, (error, socket) =>
      callback(error, socket as Duplex),
    );
  }
}
