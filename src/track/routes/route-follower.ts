import { stat } from 'node:fs/promises';
import type { DataDirectory } from '../../config/data-directory.ts';
import type { Logger } from '../../logging/log.ts';
import { readRoutes, type Route, type Routes } from './routes-file.ts';

/** Keeps the routes that `tracker/routes/current` leads to in memory; broken ones leave the last good ones. */
export class RouteFollower {
  readonly #data: DataDirectory;
  readonly #log: Logger;
  #routes: Routes | undefined;
  #version: string | undefined;
  /** How many files in a row could not be used, for `/metrics`. */
  #refused = 0;

  constructor(data: DataDirectory, log: Logger) {
    this.#data = data;
    this.#log = log;
  }

  get current(): Routes | undefined {
    return this.#routes;
  }

  /** Files that could not be used since the last good one. */
  get refused(): number {
    return this.#refused;
  }

  route(offerId: number): Route | undefined {
    return this.#routes?.offers.get(offerId);
  }

  /** Takes up the routes where they are others than before. */
  async poll(): Promise<void> {
    const version = await this.#versionOfCurrent();
    if (version === this.#version) return;
    const isFirst = this.#version === undefined;
    this.#version = version;
    if (version === missing) {
      this.#log.warn(
        isFirst
          ? 'there are no routes yet, so no click can be answered: `offerline run refresh` writes them'
          : 'the routes are gone; those known so far stay until the next refresh writes them again',
      );
      return;
    }
    try {
      this.#routes = await readRoutes(this.#data.currentRoutes);
      this.#refused = 0;
      const { snapshot_id, offers } = this.#routes.head;
      this.#log.info({ snapshot_id, offers }, 'following routes');
    } catch (error) {
      this.#refused++;
      this.#log.error(
        { reason: (error as Error).message },
        'the routes cannot be used; those known so far stay until the next refresh writes them again',
      );
    }
  }

  async #versionOfCurrent(): Promise<string> {
    try {
      const { dev, ino, size, mtimeNs } = await stat(this.#data.currentRoutes, { bigint: true });
      return `${dev} ${ino} ${size} ${mtimeNs}`;
    } catch {
      return missing;
    }
  }
}

const missing = 'missing';
