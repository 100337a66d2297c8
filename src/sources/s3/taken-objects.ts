import type { DatabaseSync } from 'node:sqlite';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { sqliteTransaction } from '../../kit/sqlite/open-sqlite.ts';
import type { LandingKind } from '../../kit/vocabulary/values.ts';
import { hasPullDatabase, openPullDatabase } from '../pull-database.ts';
import type { ListedObject } from './listed-object.ts';

/** List of one source's bucket. */
export interface ObjectList {
  source: string;
  bucket: string;
  kind: LandingKind;
}

/** An object that is in the landing folder under its name. */
export interface TakenObject {
  object: ListedObject;
  /** Relative to the landing folder. */
  path: string;
}

/**
 * Record of the objects that were taken, beside the ledger of pulls, and of how much of unfinished ones is on the disk
 * for certain. The landing folder does not show it: landing files may be archived once they were read.
 */
export class TakenObjects implements Disposable {
  readonly #database: DatabaseSync;

  constructor(data: DataDirectory) {
    this.#database = openPullDatabase(data);
  }

  /** Opens the record for reading only; undefined where nothing has ever been pulled. */
  static existing(data: DataDirectory): TakenObjects | undefined {
    return hasPullDatabase(data) ? new TakenObjects(data) : undefined;
  }

  /** Lists the objects of a page that were not taken yet, or that replaced a taken one under its key. */
  newOf({ source, bucket, kind }: ObjectList, page: readonly ListedObject[]): ListedObject[] {
    const rows = this.#database
      .prepare(
        `SELECT object_key, etag FROM s3_taken
         WHERE source = ? AND bucket = ? AND kind = ? AND object_key IN (SELECT value FROM json_each(?))`,
      )
      .all(source, bucket, kind, JSON.stringify(page.map(({ key }) => key)));
    const known = new Map(rows.map((row) => [row['object_key'], row['etag']]));
    return page.filter(({ key, etag }) => known.get(key) !== etag);
  }

  /** Records that objects were taken, all or none. */
  put({ source, bucket, kind }: ObjectList, taken: readonly TakenObject[]): void {
    const write = this.#database.prepare('INSERT OR REPLACE INTO s3_taken VALUES (?, ?, ?, ?, ?)');
    const forget = this.#database.prepare('DELETE FROM s3_parts WHERE path = ?');
    sqliteTransaction(this.#database, () => {
      for (const { object, path } of taken) {
        write.run(source, bucket, kind, object.key, object.etag);
        forget.run(path);
      }
    });
  }

  /** Returns how many bytes of the file's part are on the disk, whatever happens to the machine. */
  syncedBytes(path: string): number {
    const row = this.#database.prepare('SELECT synced_bytes FROM s3_parts WHERE path = ?').get(path);
    return row === undefined ? 0 : Number(row['synced_bytes']);
  }

  noteSynced(path: string, bytes: number): void {
    this.#database.prepare('INSERT OR REPLACE INTO s3_parts VALUES (?, ?)').run(path, bytes);
  }

  forgetPart(path: string): void {
    this.#database.prepare('DELETE FROM s3_parts WHERE path = ?').run(path);
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }
}
