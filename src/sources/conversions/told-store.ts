import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { makePrivateFolder } from '../../kit/files/effects.ts';
import type { Told } from './told.ts';

const schema = `CREATE TABLE IF NOT EXISTS told_conversions (
  conversion_id TEXT PRIMARY KEY,
  version INTEGER NOT NULL,
  state TEXT NOT NULL,
  payout TEXT,
  source TEXT
) STRICT, WITHOUT ROWID;`;

/** Told, and of which source; null where that was told before 2026-11-25. */
export type StoredTold = Told & { source: string | null };

/**
 * What was told of each conversion, beside the ledger of pulls. Written once the lines are on the disk: a pull that
 * ends before tells them again, and landing knows them by their ids.
 */
export class ToldStore implements Disposable {
  readonly #database: DatabaseSync;

  constructor({ pullLedgerFile }: DataDirectory) {
    makePrivateFolder(dirname(pullLedgerFile));
    this.#database = new DatabaseSync(pullLedgerFile, { timeout: 10_000 });
    this.#database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; ${schema}`);
    const columns = this.#database.prepare('SELECT name FROM pragma_table_info(?)').all('told_conversions');
    if (!columns.some(({ name }) => name === 'source'))
      this.#database.exec('ALTER TABLE told_conversions ADD COLUMN source TEXT');
  }

  /** `id`: as our logs have it, whatever version. */
  get(id: string): StoredTold | undefined {
    const row = this.#database
      .prepare('SELECT version, state, payout, source FROM told_conversions WHERE conversion_id = ?')
      .get(id);
    return row === undefined ? undefined : (row as unknown as StoredTold);
  }

  /** All or none. */
  put(source: string, told: ReadonlyMap<string, Told>): void {
    const write = this.#database.prepare('INSERT OR REPLACE INTO told_conversions VALUES (?, ?, ?, ?, ?)');
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      for (const [id, { version, state, payout }] of told) write.run(id, version, state, payout, source);
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
