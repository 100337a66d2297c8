import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { ReadFailures, isTransient, versionToReadAgain } from '../../kit/files/read-failures.ts';
import { fileVersion } from '../../kit/files/file-version.ts';
import type { Logger } from '../../kit/logging/log.ts';
import { readRoutes, type Route, type Routes } from '../../pipeline/routes/routes-file.ts';

/** Keeps the routes that `tracker/routes/current` leads to in memory; broken ones leave the last good ones. */
export class RouteFollower {
  readonly #data: DataDirectory;
  readonly #log: Logger;
  #routes: Routes | undefined;
  readonly #failures = new ReadFailures();
  #version: string | undefined;
  #refused = 0;

  constructor(data: DataDirectory, log: Logger) {
    this.#data = data;
    this.#log = log;
  }

  get current(): Routes | undefined {
    return this.#routes;
  }

  /** The number of files that could not be used since the last good one. */
  get refused(): number {
    return this.#refused;
  }

  route(offerId: number): Route | undefined {
    return this.#routes?.offers.get(offerId);
  }

  /** Reads the routes where they have changed. */
  async poll(): Promise<void> {
    const version = (await fileVersion(this.#data.currentRoutes)) ?? gone;
    if (version === this.#version) return;
    const isFirst = this.#version === undefined;
    this.#version = version;
    if (version === gone) {
      this.#log.warn(
        isFirst
          ? 'there are no routes yet, so clicks are refused; `offerline run refresh` writes them'
          : 'the routes are gone; keeping the last good ones until the next refresh writes them again',
      );
      return;
    }
    try {
      this.#routes = await readRoutes(this.#data.currentRoutes);
      this.#refused = 0;
      this.#failures.end();
      const { snapshot_id, offers } = this.#routes.head;
      this.#log.info({ snapshot_id, offers }, 'following routes');
    } catch (error) {
      if (isTransient(error)) this.#version = versionToReadAgain;
      if (!this.#failures.shouldReport(error)) return;
      this.#refused++;
      this.#log.error(
        { reason: (error as Error).message },
        'the routes cannot be used; keeping the last good ones until the next refresh writes them again',
      );
    }
  }
}

const gone = 'gone';
