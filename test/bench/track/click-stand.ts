import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { ownLogs } from '../../../src/tracker/logs/log-names.ts';
import type { Bench } from '../bench.ts';
import { canPin, clientCore, PinnedProcess, serverCore } from '../serve/pinned-process.ts';
import type { ClickLoad, ClickPlan } from './click-load.ts';
import { trackedOffers, trackedSites, writeTrackedData } from './tracked-data.ts';

export const servers = ['bare', 'process', 'power'] as const;
/** The bare server, and trackers by their durability. */
export type ServerName = (typeof servers)[number];

const connections = 64;

/** The measuring stand: servers that take turns on one core, and the client that clicks, on another. */
export class ClickStand implements AsyncDisposable {
  readonly pinned = canPin();
  readonly #signal: AbortSignal;
  readonly #client: PinnedProcess;
  readonly #servers: Record<ServerName, PinnedProcess>;
  readonly #addresses = new Map<ServerName, string>();
  readonly #data: readonly DataDirectory[];

  private constructor(data: Record<'process' | 'power', DataDirectory>, signal: AbortSignal) {
    this.#signal = signal;
    const track = ({ root }: DataDirectory) =>
      this.#start('../../../src/cli/main.ts', ['track', '--port', '0', '--json'], serverCore, { OFFERLINE_DATA: root });
    this.#client = this.#start('click-client.ts', [], clientCore);
    this.#servers = {
      bare: this.#start('bare-redirect.ts', [], serverCore),
      process: track(data.process),
      power: track(data.power),
    };
    this.#data = Object.values(data);
  }

  static async open({ folder, signal }: Bench): Promise<ClickStand> {
    const data = {
      process: await writeTrackedData(join(folder, 'track-process'), 'process'),
      power: await writeTrackedData(join(folder, 'track-power'), 'power'),
    };
    const stand = new ClickStand(data, signal);
    for (const name of servers)
      stand.#addresses.set(name, (await stand.#servers[name].firstMessage<{ address: string }>()).address);
    return stand;
  }

  /** Throws where a click was not led on: a ratio of errors says nothing. */
  async load(name: ServerName, plan: Pick<ClickPlan, 'seconds' | 'ratePerSecond'>): Promise<ClickLoad> {
    this.#signal.throwIfAborted();
    await this.sweep();
    const seen = await this.#client.ask<ClickLoad>({
      address: this.#addresses.get(name) as string,
      connections,
      offers: trackedOffers,
      sites: trackedSites,
      ...plan,
    } satisfies ClickPlan);
    if (seen.failed > 0) throw new Error(`${seen.failed} of ${seen.clicks} clicks at ${name} did not get their 302`);
    return seen;
  }

  /**
   * Removes what was handed to landing: nothing reads it, and a long bench would fill the disk. Between loads where
   * that can be, since the disk has work with it.
   */
  async sweep(): Promise<void> {
    for (const data of this.#data)
      for (const { path, isWhole } of ownLogs(data, 'clicks')) if (isWhole) await rm(path, { force: true });
  }

  residentBytes(name: ServerName): Promise<number> {
    return this.#servers[name].residentBytes();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const process of [this.#client, ...Object.values(this.#servers)]) await process.stop();
  }

  #start(program: string, words: string[], core: number, environment: Record<string, string> = {}): PinnedProcess {
    return new PinnedProcess(new URL(program, import.meta.url), words, {
      core: this.pinned ? core : undefined,
      environment,
      signal: this.#signal,
    });
  }
}
