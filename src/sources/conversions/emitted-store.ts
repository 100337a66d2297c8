import type { DatabaseSync } from 'node:sqlite';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { sqliteTransaction } from '../../kit/sqlite/open-sqlite.ts';
import { openPullDatabase } from '../pull-database.ts';
import type { EmittedConversion } from './emitted-conversions.ts';

export type StoredEmitted = EmittedConversion & { source: string };

/**
 * Emitted conversions, in the file of the pull ledger. Written after their lines are on the disk: a pull that ends in
 * between emits the lines again, and landing finds duplicates by their ids.
 */
export class EmittedStore implements Disposable {
  readonly #database: DatabaseSync;

  constructor(data: DataDirectory) {
    this.#database = openPullDatabase(data);
  }

  /** `id` as in our logs, without the version's suffix. */
  get(id: string): StoredEmitted | undefined {
    const row = this.#database
      .prepare('SELECT version, state, payout, source FROM told_conversions WHERE conversion_id = ?')
      .get(id);
    return row === undefined ? undefined : (row as unknown as StoredEmitted);
  }

  /** Returns the id by which the network listed a conversion first; `laterId` is the one that replaces it. */
  firstId(source: string, laterId: string): string | undefined {
    const row = this.#database
      .prepare('SELECT first_id FROM first_ids WHERE source = ? AND later_id = ?')
      .get(source, laterId);
    return row === undefined ? undefined : String(row['first_id']);
  }

  /** Stores all of them or none. `firstIds`: by the ids that replace them. */
  put(
    source: string,
    emitted: ReadonlyMap<string, EmittedConversion>,
    firstIds: ReadonlyMap<string, string> = new Map(),
  ): void {
    const write = this.#database.prepare('INSERT OR REPLACE INTO told_conversions VALUES (?, ?, ?, ?, ?)');
    const name = this.#database.prepare('INSERT OR IGNORE INTO first_ids VALUES (?, ?, ?)');
    sqliteTransaction(this.#database, () => {
      for (const [id, { version, state, payout }] of emitted) write.run(id, version, state, payout, source);
      for (const [laterId, firstId] of firstIds) name.run(source, laterId, firstId);
    });
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }
}
