import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { isMomentary } from '../../kit/errors/machine-failure.ts';
import { currentName, manifestOf, snapshotNames } from '../../pipeline/snapshot/snapshot-store.ts';
import { manifestFile } from '../../pipeline/snapshot/manifest.ts';
import { aheadOfClock } from '../../kit/time/ahead-of-clock.ts';
import { openSnapshot } from './published-snapshot.ts';
import type { PublishedSnapshot } from './published-snapshot.ts';

/**
 * Keeps the snapshot that `published/current` names in memory; one that is not whole leaves the last good one. With a
 * `pinned` one it serves that and follows nothing.
 */
export class SnapshotFollower {
  readonly #data: DataDirectory;
  readonly #log: Logger;
  readonly #pinned: string | undefined;
  readonly #prepare: (snapshot: PublishedSnapshot) => Promise<void>;
  readonly #now: () => number;
  #serving: PublishedSnapshot | undefined;
  /** Identity of the manifest file of the served snapshot. */
  #servedManifest: string | undefined;
  /** Snapshots that were found bad: neither hashed nor complained about again. */
  readonly #refused = new Set<string>();
  readonly #complained = new Set<string>();

  /** `prepare` is awaited before a new snapshot takes the place of another. */
  constructor(
    data: DataDirectory,
    log: Logger,
    pinned: string | undefined,
    prepare: (snapshot: PublishedSnapshot) => Promise<void>,
    now: () => number,
  ) {
    this.#data = data;
    this.#log = log;
    this.#pinned = pinned;
    this.#prepare = prepare;
    this.#now = now;
  }

  get serving(): PublishedSnapshot | undefined {
    return this.#serving;
  }

  /**
   * Takes up the current snapshot, or where that is not whole the newest older one that is. Throws where a pinned one
   * is not whole.
   */
  async start(): Promise<void> {
    if (this.#pinned !== undefined) {
      this.#serving = await openSnapshot(join(this.#data.published, this.#pinned));
      await this.#serving.connections.hold();
      this.#log.info(
        { snapshot_id: this.#pinned, as_of: this.#serving.asOf, offers: this.#serving.offers.length },
        'serving this snapshot only',
      );
      return;
    }
    const current = await this.#currentId();
    if (current === undefined) {
      this.#log.warn(
        { published: this.#data.published },
        'nothing is served: there is no current snapshot; `offerline run refresh` publishes one',
      );
      return;
    }
    if (await this.#take(current)) return;
    for (const id of await this.#olderThan(current)) if (await this.#take(id)) return;
    this.#log.error(
      { published: this.#data.published },
      'no published snapshot is whole; `offerline run refresh` publishes a new one',
    );
  }

  /**
   * Prepares what has been served unprepared since the start; where it cannot be, an older snapshot takes its place.
   * Throws for a pinned one.
   */
  async prepareServing(): Promise<void> {
    const snapshot = this.#serving;
    if (snapshot === undefined) return;
    try {
      await this.#prepare(snapshot);
    } catch (error) {
      if (this.#pinned !== undefined) throw error;
      this.#serving = undefined;
      this.#refuse(snapshot.id, error as Error);
      for (const id of await this.#olderThan(snapshot.id)) if (await this.#take(id)) return;
    }
  }

  /** Looks whether another snapshot is current, and takes it up if it is whole. */
  async poll(): Promise<void> {
    if (this.#pinned !== undefined) return;
    const current = await this.#currentId();
    if (current === undefined || this.#refused.has(current)) return;
    if (current === this.#serving?.id && !(await this.#isReplaced(current))) return;
    await this.#take(current);
  }

  /** Lets go of what is served; for the end of the service. */
  async close(): Promise<void> {
    await this.#serving?.connections.retire();
  }

  /** Requests see the old snapshot until the new one is verified and prepared, then at once the new one. */
  async #take(id: string): Promise<boolean> {
    const before = this.#serving;
    try {
      const manifest = await this.#manifestIdentity(id);
      const snapshot = await openSnapshot(join(this.#data.published, id));
      await this.#prepare(snapshot);
      this.#serving = snapshot;
      this.#servedManifest = manifest;
    } catch (error) {
      this.#refuse(id, error as Error);
      return false;
    }
    await before?.connections.retire();
    this.#log.info(
      { snapshot_id: id, as_of: this.#serving.asOf, offers: this.#serving.offers.length },
      'serving snapshot',
    );
    return true;
  }

  /** Where a run was discarded that object storage did not take, another snapshot may have its name. */
  async #isReplaced(id: string): Promise<boolean> {
    const manifest = await this.#manifestIdentity(id);
    return manifest !== undefined && manifest !== this.#servedManifest;
  }

  async #manifestIdentity(id: string): Promise<string | undefined> {
    const about = await stat(join(this.#data.published, id, manifestFile), { bigint: true }).catch(() => undefined);
    return about && `${about.ino} ${about.mtimeNs} ${about.size}`;
  }

  #refuse(id: string, error: Error): void {
    if (!isMomentary(error)) this.#refused.add(id);
    const stays = this.#serving === undefined ? 'it is not served' : `it is not served, ${this.#serving.id} stays`;
    this.#complain(
      id,
      { snapshot_id: id, reason: error.message },
      `snapshot ${id} cannot be used: ${stays}; \`offerline doctor\` says what to do`,
    );
  }

  /** Once about each thing: the next look, a second later, finds the same. */
  #complain(about: string, facts: object, message: string): void {
    if (this.#complained.has(about)) return;
    this.#complained.add(about);
    this.#log.error(facts, message);
  }

  async #currentId(): Promise<string | undefined> {
    try {
      return await currentName(this.#data);
    } catch (error) {
      this.#complain(
        this.#data.current,
        { reason: (error as Error).message },
        'the link to the current snapshot cannot be read; what is served stays',
      );
      return undefined;
    }
  }

  /** Folder names sort by publication; the newest comes first, and last those as of a time that is yet to come. */
  async #olderThan(id: string): Promise<string[]> {
    const older = (await snapshotNames(this.#data)).filter((name) => name < id).toReversed();
    const ahead = new Set<string>();
    for (const name of older) if (await this.#isAhead(name)) ahead.add(name);
    return [...older.filter((name) => !ahead.has(name)), ...ahead];
  }

  async #isAhead(id: string): Promise<boolean> {
    try {
      return aheadOfClock((await manifestOf(this.#data, id)).as_of, this.#now()) > 0;
    } catch {
      // Taking it up says what is wrong with it.
      return false;
    }
  }
}
