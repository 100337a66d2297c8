import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { DataDirectory } from '../../config/data-directory.ts';
import { makePrivateFolder } from '../../files/effects.ts';
import type { Told } from './told.ts';

const schema = `CREATE TABLE IF NOT EXISTS told_conversions (
  conversion_id TEXT PRIMARY KEY,
  version INTEGER NOT NULL,
  state TEXT NOT NULL,
  payout TEXT
) STRICT, WITHOUT ROWID;`;

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
  }

  /** `id`: of the network's conversion, whatever version. */
  get(id: string): Told | undefined {
    const row = this.#database
      .prepare('SELECT version, state, payout FROM told_conversions WHERE conversion_id = ?')
      .get(id);
    return row === undefined ? undefined : (row as unknown as Told);
  }

  /** All or none. */
  put(told: ReadonlyMap<string, Told>): void {
    const write = this.#database.prepare('INSERT OR REPLACE INTO told_conversions VALUES (?, ?, ?, ?)');
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      for (const [id, { version, state, payout }] of told) write.run(id, version, state, payout);
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
