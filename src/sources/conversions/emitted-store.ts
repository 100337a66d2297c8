import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { makePrivateFolder } from '../../kit/files/effects.ts';
import type { EmittedConversion } from './emitted-conversions.ts';

const schema = `CREATE TABLE IF NOT EXISTS told_conversions (
  conversion_id TEXT PRIMARY KEY,
  version INTEGER NOT NULL,
  state TEXT NOT NULL,
  payout TEXT,
  source TEXT NOT NULL
) STRICT, WITHOUT ROWID;`;

export type StoredEmitted = EmittedConversion & { source: string };

/**
 * Emitted conversions, in the file of the pull ledger. Written after their lines are on the disk: a pull that ends in
 * between emits the lines again, and landing finds duplicates by their ids.
 */
export class EmittedStore implements Disposable {
  readonly #database: DatabaseSync;

  constructor({ pullLedgerFile }: DataDirectory) {
    makePrivateFolder(dirname(pullLedgerFile));
    this.#database = new DatabaseSync(pullLedgerFile, { timeout: 10_000 });
    this.#database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; ${schema}`);
  }

  /** `id` as in our logs, without the version's suffix. */
  get(id: string): StoredEmitted | undefined {
    const row = this.#database
      .prepare('SELECT version, state, payout, source FROM told_conversions WHERE conversion_id = ?')
      .get(id);
    return row === undefined ? undefined : (row as unknown as StoredEmitted);
  }

  /** Stores all of them or none. */
  put(source: string, emitted: ReadonlyMap<string, EmittedConversion>): void {
    const write = this.#database.prepare('INSERT OR REPLACE INTO told_conversions VALUES (?, ?, ?, ?, ?)');
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      for (const [id, { version, state, payout }] of emitted) write.run(id, version, state, payout, source);
      this.#database.exec('COMMIT');
    } catch (error) {
      this.#database.exec('ROLLBACK');
      throw error;
    }
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }
}
