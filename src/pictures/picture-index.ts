import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { packageFile } from '../kit/files/package-files.ts';
import type { DataDirectory } from '../kit/config/data-directory.ts';
import type { FileEffects } from '../kit/files/effects.ts';
import { migrationFiles } from '../kit/files/migration-files.ts';
import { migrateSqlite, sqliteVersion } from '../kit/sqlite/migrate-sqlite.ts';
import { isSqliteDamage, openSqlite, sqliteTransaction } from '../kit/sqlite/open-sqlite.ts';
import type { FeedPicture } from './feed-pictures.ts';

/** Index entry of a picture's name. Times are milliseconds since the epoch. */
export interface IndexedPicture extends FeedPicture {
  /** The newest mirrored file; null while there is none. */
  file: string | null;
  bytes: number | null;
  /** Address that gave the file after redirects, with that server's validators. */
  answered_by: string | null;
  etag: string | null;
  last_modified: string | null;
  /** Null before the first request. */
  asked_at: number | null;
  /** Time of the next request. */
  next_at: number;
  /** Failures in a row. */
  failures: number;
  /** Reason of the last failure. */
  error: string | null;
  /** Time of the last published snapshot that names it. */
  wanted_at: number;
}

/** Columns that a fetch sets. */
export type MirroredCopy = Pick<IndexedPicture, 'file' | 'bytes' | 'answered_by' | 'etag' | 'last_modified'>;

/**
 * A pass over all pictures. Milliseconds since the epoch; `ended_at` is null while it works and where it was killed.
 */
interface PicturePass {
  started_at: number;
  ended_at: number | null;
  error: string | null;
}

const migrations = packageFile('sql/pictures');

const isFailing = 'error IS NOT NULL AND wanted_at = (SELECT max(wanted_at) FROM pictures)';

/**
 * Index of mirrored files by name, in SQLite, so that the service reads while a pass writes. All its content can be
 * fetched again, so a damaged index is replaced by an empty one.
 */
export class PictureIndex implements Disposable {
  readonly #database: DatabaseSync;

  private constructor(file: string) {
    this.#database = openSqlite(file);
    migrateSqlite(this.#database, file, migrations);
  }

  /** Opens the index for a pass, which holds the lock. `onDamage` receives the problem of an index that is replaced. */
  static async open(
    { pictureIndexFile: file }: DataDirectory,
    files: FileEffects,
    onDamage: (problem: string) => void,
  ): Promise<PictureIndex> {
    const problem = damageOf(file);
    if (problem !== undefined) {
      onDamage(problem);
      // The log first, so that SQLite does not apply it to a new file.
      for (const ending of ['-wal', '-shm', ''])
        await files.remove(file + ending, 'damaged index of pictures: removed');
    }
    return new PictureIndex(file);
  }

  /** Opens the index for reading; undefined before the first pass, and where the next pass replaces it. */
  static existing({ pictureIndexFile: file }: DataDirectory): PictureIndex | undefined {
    const isUsable = existsSync(file) && damageOf(file) === undefined;
    return isUsable ? new PictureIndex(file) : undefined;
  }

  /** Adds the pictures of the published snapshot. A new address is due at once. */
  want(pictures: readonly FeedPicture[], now: number): void {
    const statement = this.#database.prepare(
      `INSERT INTO pictures (name, address, next_at, wanted_at) VALUES (?1, ?2, ?3, ?3)
       ON CONFLICT (name) DO UPDATE SET wanted_at = ?3, address = ?2, next_at = iif(address = ?2, next_at, ?3)`,
    );
    sqliteTransaction(this.#database, () => {
      for (const { name, address } of pictures) statement.run(name, address, now);
    });
  }

  /** Pictures wanted at that time, the longest due first. */
  wantedAt(time: number): IndexedPicture[] {
    return this.#database
      .prepare('SELECT * FROM pictures WHERE wanted_at = ? ORDER BY next_at, name')
      .all(time) as unknown as IndexedPicture[];
  }

  mirrored(name: string, copy: MirroredCopy, askedAt: number, nextAt: number): void {
    const { file, bytes, answered_by, etag, last_modified } = copy;
    this.#database
      .prepare(
        `UPDATE pictures SET file = ?, bytes = ?, answered_by = ?, etag = ?, last_modified = ?, asked_at = ?, next_at = ?, failures = 0, error = NULL WHERE name = ?`,
      )
      .run(file, bytes, answered_by, etag, last_modified, askedAt, nextAt, name);
  }

  unchanged(name: string, askedAt: number, nextAt: number): void {
    this.#database
      .prepare('UPDATE pictures SET asked_at = ?, next_at = ?, failures = 0, error = NULL WHERE name = ?')
      .run(askedAt, nextAt, name);
  }

  /** Records a failure and keeps the file. */
  failed(name: string, error: string, askedAt: number, nextAt: number): void {
    this.#database
      .prepare('UPDATE pictures SET asked_at = ?, next_at = ?, failures = failures + 1, error = ? WHERE name = ?')
      .run(askedAt, nextAt, error, name);
  }

  /** Removes names that no snapshot has named since. */
  forget(wantedBefore: number): void {
    this.#database.prepare('DELETE FROM pictures WHERE wanted_at < ?').run(wantedBefore);
  }

  /** All files in use. */
  files(): Set<string> {
    const rows = this.#database.prepare('SELECT DISTINCT file FROM pictures WHERE file IS NOT NULL').all();
    return new Set(rows.map(({ file }) => String(file)));
  }

  /** Pictures of the newest snapshot whose last request failed, the most failures first. */
  failing(): IndexedPicture[] {
    return this.#database
      .prepare(`SELECT * FROM pictures WHERE ${isFailing} ORDER BY failures DESC, name`)
      .all() as unknown as IndexedPicture[];
  }

  /** Numbers of names with a file and of failing ones; some are both. */
  counts(): { mirrored: number; failing: number } {
    return this.#database
      .prepare(`SELECT count(file) AS mirrored, count(*) FILTER (WHERE ${isFailing}) AS failing FROM pictures`)
      .get() as unknown as { mirrored: number; failing: number };
  }

  beginPass(startedAt: number): void {
    this.#database.prepare('INSERT OR REPLACE INTO last_pass (one, started_at) VALUES (1, ?)').run(startedAt);
  }

  endPass(endedAt: number, error: string | null): void {
    this.#database.prepare('UPDATE last_pass SET ended_at = ?, error = ?').run(endedAt, error);
  }

  lastPass(): PicturePass | undefined {
    return this.#database.prepare('SELECT started_at, ended_at, error FROM last_pass').get() as PicturePass | undefined;
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }
}

/** Returns the damage of an index; undefined for a good one and where there is none. */
function damageOf(file: string): string | undefined {
  if (!existsSync(file)) return undefined;
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file, { timeout: 10_000 });
    const [found] = Object.values(database.prepare('PRAGMA quick_check(1)').get() ?? {});
    if (found !== 'ok') return String(found);
    const version = sqliteVersion(database);
    return version <= (migrationFiles(migrations).at(-1)?.number ?? 0) ? undefined : `its version is ${version}`;
  } catch (error) {
    if (isSqliteDamage(error)) return (error as Error).message;
    throw error;
  } finally {
    database?.close();
  }
}
