import { join } from 'node:path';
import type { Logger } from 'pino';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { isMomentary } from '../../kit/errors/machine-failure.ts';
import { currentName, snapshotNames } from '../../pipeline/snapshot/snapshot-store.ts';
import { ConsoleSnapshot } from './console-snapshot.ts';
import { TooBusyError } from './serial-queue.ts';

/** Older snapshots that are open at a time. */
const maxOlder = 2;
/** An older one that nobody reads is closed after that time: runs keep what is open. */
const unusedMilliseconds = 5 * 60_000;

interface OlderSnapshot {
  opening: Promise<ConsoleSnapshot>;
  /** Requests that read it, or wait until it is open. */
  users: number;
  /** The end of the last of them, milliseconds since the epoch. */
  usedAt: number;
}

/** The newest intact snapshot, and older ones that addresses name. */
export class ConsoleSnapshots {
  readonly #data: DataDirectory;
  readonly #log: Logger;
  readonly #now: () => number;
  #current: ConsoleSnapshot | undefined;
  /** Older snapshots in the order of opening. */
  readonly #older = new Map<string, OlderSnapshot>();
  /** Snapshots that were found bad: not looked at again. */
  readonly #refused = new Set<string>();
  /** The snapshot that was complained about last: the next look, a second later, finds the same. */
  #complained: string | undefined;

  constructor(data: DataDirectory, log: Logger, now: () => number) {
    this.#data = data;
    this.#log = log;
    this.#now = now;
  }

  get current(): ConsoleSnapshot | undefined {
    return this.#current;
  }

  /** Opens a newly published snapshot; returns whether it is shown from now on. Closes older ones that are not read. */
  async poll(): Promise<boolean> {
    const unusedSince = this.#now() - unusedMilliseconds;
    for (const [name, { users, usedAt }] of this.#older)
      if (users === 0 && usedAt <= unusedSince) this.#closeOlder(name);
    const name = await currentName(this.#data).catch(() => undefined);
    if (name === undefined || name === this.#current?.id || this.#refused.has(name)) return false;
    let opened: ConsoleSnapshot;
    try {
      opened = await ConsoleSnapshot.open(join(this.#data.published, name));
    } catch (error) {
      if (!isMomentary(error)) this.#refused.add(name);
      if (name === this.#complained) return false;
      this.#complained = name;
      const shown = this.#current === undefined ? 'none is shown' : `${this.#current.id} stays shown`;
      this.#log.error(
        { snapshot_id: name, err: error },
        `the published snapshot cannot be opened; ${shown}. \`offerline doctor\` says what to do`,
      );
      return false;
    }
    const before = this.#current;
    this.#current = opened;
    before?.retire();
    this.#log.info({ snapshot_id: name, as_of: opened.asOf }, 'showing a new snapshot');
    return true;
  }

  /**
   * Keeps the named snapshot, or the current one, open while `work` runs. `work` gets undefined where that snapshot is
   * no longer kept, or nothing is published yet. Throws where it is damaged, and `TooBusyError` where all older
   * snapshots that may be open are being read.
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
      older.usedAt = this.#now();
    }
  }

  /** Returns the first kept snapshot that was published after one that is gone, else the newest. */
  async keptAfter(gone: string | undefined): Promise<string | undefined> {
    const names = gone === undefined ? [] : await snapshotNames(this.#data);
    return names.find((name) => name > String(gone)) ?? names.at(-1);
  }

  /** Closes an unused one first where the limit is reached. */
  #openOlder(name: string): OlderSnapshot {
    if (this.#older.size >= maxOlder) {
      const [unused] = [...this.#older].find(([, { users }]) => users === 0) ?? [];
      if (unused === undefined) throw new TooBusyError();
      this.#closeOlder(unused);
    }
    const opening = ConsoleSnapshot.open(join(this.#data.published, name));
    opening.catch(() => this.#older.delete(name));
    const older = { opening, users: 0, usedAt: this.#now() };
    this.#older.set(name, older);
    return older;
  }

  #closeOlder(name: string): void {
    const opening = this.#older.get(name)?.opening;
    this.#older.delete(name);
    opening?.then((snapshot) => snapshot.retire()).catch(() => undefined);
  }

  close(): void {
    this.#current?.retire();
    for (const name of this.#older.keys()) this.#closeOlder(name);
  }
}
