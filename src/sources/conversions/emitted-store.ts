import type { DatabaseSync } from 'node:sqlite';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { sqliteTransaction } from '../../kit/sqlite/open-sqlite.ts';
import { openPullDatabase } from '../pull-database.ts';
import type { EmittedConversion } from './emitted-conversions.ts';

export type StoredEmitted = EmittedConversion & { source: string };

/**
 * Emitted conversions, in the file of the pull ledger. Written with the name of the export that has their lines, after
 * it is on the disk and before landing sees it: a pull that ends before has emitted nothing, and after one that ends in
 * between the next one lands that export first.
 */
export class EmittedStore implements Disposable {
  readonly #database: DatabaseSync;

  constructor(data: DataDirectory) {
    this.#database = openPullDatabase(data);
  }

  /** `id` as in our logs, without the version's suffix. */
  get(id: string): StoredEmitted | undefined {
    const row = this.#database
      .prepare('SELECT version, state, payout, source, listed FROM told_conversions WHERE conversion_id = ?')
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

  /** Returns the name of the export that was stored last with a source's conversions. */
  lastExport(source: string): string | undefined {
    const row = this.#database.prepare('SELECT name FROM last_exports WHERE source = ?').get(source);
    return row === undefined ? undefined : String(row['name']);
  }

  /** Stores all of them or none. `firstIds`: by the ids that replace them. `exported`: the export with their lines. */
  put(
    source: string,
    emitted: ReadonlyMap<string, EmittedConversion>,
    firstIds: ReadonlyMap<string, string> = new Map(),
    exported: string | null = null,
  ): void {
    const write = this.#database.prepare('INSERT OR REPLACE INTO told_conversions VALUES (?, ?, ?, ?, ?, ?)');
    const name = this.#database.prepare('INSERT OR IGNORE INTO first_ids VALUES (?, ?, ?)');
    const last = this.#database.prepare('INSERT OR REPLACE INTO last_exports VALUES (?, ?)');
    sqliteTransaction(this.#database, () => {
      for (const [id, { version, state, payout, listed }] of emitted)
        write.run(id, version, state, payout, source, listed);
      for (const [laterId, firstId] of firstIds) name.run(source, laterId, firstId);
      if (exported !== null) last.run(source, exported);
    });
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }
}
