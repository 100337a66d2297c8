import type { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import type { Load, LoadPlan } from './load.ts';
import { canPin, clientCore, PinnedProcess, serverCore } from './pinned-process.ts';

export interface Server {
  process: PinnedProcess;
  address: string;
}

const commandLine = new URL('../../../src/cli/main.ts', import.meta.url);
const constantServer = new URL('./constant-server.ts', import.meta.url);
const loadClient = new URL('./load-client.ts', import.meta.url);

/** As many as keep a server of one thread busy without a queue that adds nothing. */
const connections = 16;

/** The snapshot that a service answers from. */
export async function servedSnapshot({ address }: Server): Promise<string> {
  const response = await fetch(new URL('/readyz', address));
  return ((await response.json()) as { snapshot_id: string }).snapshot_id;
}

/**
 * The measuring stand: one client, and the servers that take turns under its load. Everything listens on 127.0.0.1
 * alone.
 */
export class Stand {
  readonly pinned = canPin();
  readonly #signal: AbortSignal;
  readonly #client: PinnedProcess;
  readonly #servers: PinnedProcess[] = [];

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    this.#client = this.#start(loadClient, [], clientCore);
  }

  /** `offerline serve` as a user runs it. */
  serve(data: DataDirectory): Promise<Server> {
    return this.#listen(commandLine, ['serve', '--host', '127.0.0.1', '--port', '0', '--json'], {
      OFFERLINE_DATA: data.root,
    });
  }

  /** `offerline console` as `start` runs it: kept to no core. `link` lets one in. */
  async console(data: DataDirectory): Promise<Server & { link: string }> {
    const words = ['console', '--host', '127.0.0.1', '--port', '0', '--json'];
    const process = new PinnedProcess(commandLine, words, {
      core: undefined,
      environment: { OFFERLINE_DATA: data.root },
      signal: this.#signal,
    });
    this.#servers.push(process);
    const { address, link = '' } = await process.announced();
    return { process, address, link };
  }

  constant(sizes: readonly number[]): Promise<Server> {
    return this.#listen(constantServer, sizes.map(String));
  }

  /** As many requests as the server takes. Throws where one failed: a ratio of errors says nothing. */
  async load({ address }: Server, plan: Omit<LoadPlan, 'address' | 'connections'>): Promise<Load> {
    this.#signal.throwIfAborted();
    const load = await this.#client.ask<Load>({ address, connections, ...plan });
    if (load.failed > 0)
      throw new Error(
        `${load.failed} of ${load.requests} requests failed, such as one of ${plan.paths[0]?.replace(/\?.*/, '')}`,
      );
    return load;
  }

  /** A load beside which something else happens: it goes on until that has ended. Failures are counted, not thrown. */
  async loadDuring(
    { address }: Server,
    plan: Pick<LoadPlan, 'paths' | 'ratePerSecond'>,
    happening: () => Promise<void>,
  ): Promise<Load> {
    this.#signal.throwIfAborted();
    const { answer } = await this.#client.begin<Load>({ address, connections, ...plan });
    try {
      await happening();
    } finally {
      this.#client.tell('stop');
    }
    return answer;
  }

  /** One request after the other. */
  one(server: Server, paths: string[]): Promise<Load> {
    return this.#client.ask<Load>({ address: server.address, connections: 1, paths, requests: paths.length });
  }

  async stop(server: Server): Promise<void> {
    await server.process.stop();
  }

  async close(): Promise<void> {
    for (const process of [this.#client, ...this.#servers]) await process.stop();
  }

  async #listen(program: URL, words: readonly string[], environment?: Record<string, string>): Promise<Server> {
    const process = this.#start(program, words, serverCore, environment);
    this.#servers.push(process);
    return { process, address: await process.address() };
  }

  #start(
    program: URL,
    words: readonly string[],
    core: number,
    environment: Record<string, string> = {},
  ): PinnedProcess {
    return new PinnedProcess(program, words, {
      core: this.pinned ? core : undefined,
      environment,
      signal: this.#signal,
    });
  }
}
