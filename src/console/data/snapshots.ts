import { join } from 'node:path';
import type { Logger } from 'pino';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { currentName, snapshotNames } from '../../pipeline/snapshot/snapshot-store.ts';
import { ConsoleSnapshot } from './console-snapshot.ts';
import { TooBusyError } from './one-at-a-time.ts';

/** Older snapshots that addresses may name, kept open at a time. */
const maxOlder = 2;

interface OlderSnapshot {
  opening: Promise<ConsoleSnapshot>;
  /** How many read it, or wait until it is open. */
  users: number;
}

/** The published snapshot, the newest that is whole, and older ones that are asked for by name. */
export class ConsoleSnapshots {
  readonly #data: DataDirectory;
  readonly #log: Logger;
  #current: ConsoleSnapshot | undefined;
  /** The longest open first. */
  readonly #older = new Map<string, OlderSnapshot>();
  readonly #refused = new Set<string>();

  constructor(data: DataDirectory, log: Logger) {
    this.#data = data;
    this.#log = log;
  }

  get current(): ConsoleSnapshot | undefined {
    return this.#current;
  }

  /** Looks whether another one was published; true where it is shown from now on. */
  async poll(): Promise<boolean> {
    const name = await currentName(this.#data).catch(() => undefined);
    if (name === undefined || name === this.#current?.id || this.#refused.has(name)) return false;
    let opened: ConsoleSnapshot;
    try {
      opened = await ConsoleSnapshot.open(join(this.#data.published, name));
    } catch (error) {
      this.#refused.add(name);
      this.#log.error({ snapshot_id: name, err: error }, 'the published snapshot cannot be shown; the last good one stays');
      return false;
    }
    const before = this.#current;
    this.#current = opened;
    before?.retire();
    this.#log.info({ snapshot_id: name, as_of: opened.asOf }, 'the console shows snapshot');
    return true;
  }

  /**
   * Does something with the one of that name, or with the current one, which stays open until that is done; with
   * `undefined` where it is not kept any more, or nothing is published yet. Throws where it is damaged, and
   * `TooBusyError` where as many older ones are being read as may be open.
   */
  async use<Result>(
    name: string | undefined,
    work: (snapshot: ConsoleSnapshot | undefined) => Promise<Result>,
  ): Promise<Result> {
    const current = this.#current;
    if (name === undefined || name === current?.id)
      return current === undefined ? work(undefined) : current.use(() => work(current));
    if (!this.#older.has(name) && !(await snapshotNames(this.#data)).includes(name)) return work(undefined);
    const older = this.#older.get(name) ?? this.#openOlder(name);
    older.users++;
    try {
      return await work(await older.opening);
    } finally {
      older.users--;
    }
  }

  /** In the place of one that nobody reads, where there are as many as may be. */
  #openOlder(name: string): OlderSnapshot {
    if (this.#older.size >= maxOlder) {
      const [unused, { opening } = {}] = [...this.#older].find(([, { users }]) => users === 0) ?? [];
      if (unused === undefined) throw new TooBusyError();
      this.#older.delete(unused);
      retire(opening);
    }
    const opening = ConsoleSnapshot.open(join(this.#data.published, name));
    opening.catch(() => this.#older.delete(name));
    const older = { opening, users: 0 };
    this.#older.set(name, older);
    return older;
  }

  close(): void {
    this.#current?.retire();
    for (const { opening } of this.#older.values()) retire(opening);
  }
}

function retire(opening: Promise<ConsoleSnapshot> | undefined): void {
  opening?.then((snapshot) => snapshot.retire()).catch(() => undefined);
}
