import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { DatabaseSync } from 'node:sqlite';
import type { DataDirectory } from '../config/data-directory.ts';
import { OfferlineError, WarehouseBusyError } from '../errors/errors.ts';
import { momentOfMilliseconds } from '../stage/as-of.ts';

/** Who holds the warehouse, as that process wrote it down. */
export interface LockHolder {
  pid: number;
  /** Such as `run refresh`. */
  command: string;
  /** When it took the lock, UTC. */
  since: string;
}

export interface LockRequest {
  /** What the holder is doing, for those who have to wait for it. */
  command: string;
  waitSeconds: number;
  /** Called once, with a sentence for the operator, when the lock is not free at once. */
  onWaiting(message: string): void;
}

export interface WriterLock {
  /** Lets the next one in. May be called twice. */
  release(): void;
}

/** Time as the lock sees it, in milliseconds. */
export interface LockEffects {
  now(): number;
  wait(milliseconds: number): Promise<void>;
}

const realLockEffects: LockEffects = { now: () => Date.now(), wait: (milliseconds) => setTimeout(milliseconds) };

/** Short enough that nobody notices it, long enough to cost nothing. */
const pollMilliseconds = 200;

/** SQLite's SQLITE_BUSY: another connection has the lock. */
const sqliteBusy = 5;

/**
 * Takes the right to write to the warehouse, for one process at a time. An exclusive SQLite transaction on an
 * otherwise empty file is the lock: the operating system holds it, so it is gone at once when the process dies,
 * and child processes do not inherit it. The lock file itself is never read or removed: either would break the lock.
 *
 * Waits for another holder up to `waitSeconds`, then throws `WarehouseBusyError` naming it.
 */
export async function acquireWriterLock(data: DataDirectory, request: LockRequest, effects: LockEffects = realLockEffects): Promise<WriterLock> {
  const start = effects.now();
  let told = false;
  for (;;) {
    const database = tryLock(data);
    if (database !== undefined) return new HeldLock(data, database, { pid: process.pid, command: request.command, since: momentOfMilliseconds(effects.now()) });
    const remaining = start + request.waitSeconds * 1000 - effects.now();
    if (remaining <= 0) {
      throw new WarehouseBusyError(`The warehouse stayed busy for ${request.waitSeconds} s: ${describe(readHolder(data))} holds it. Run again when that has ended; nothing was changed.`);
    }
    if (!told) request.onWaiting(`Waiting up to ${request.waitSeconds} s for the warehouse: ${describe(readHolder(data))} holds it.`);
    told = true;
    await effects.wait(Math.min(pollMilliseconds, remaining));
  }
}

/** Who took the warehouse last: its present holder where there is one. For messages, never for decisions. */
export function readHolder(data: DataDirectory): LockHolder | undefined {
  try {
    return JSON.parse(readFileSync(holderFile(data), 'utf8')) as LockHolder;
  } catch {
    // Between taking the lock and writing the name, and after a clean release, there is none.
    return undefined;
  }
}

class HeldLock implements WriterLock {
  readonly #data: DataDirectory;
  #database: DatabaseSync | undefined;

  constructor(data: DataDirectory, database: DatabaseSync, holder: LockHolder) {
    this.#data = data;
    this.#database = database;
    try {
      const temporary = `${holderFile(data)}.tmp`;
      writeFileSync(temporary, `${JSON.stringify(holder)}\n`);
      renameSync(temporary, holderFile(data));
    } catch (error) {
      this.release();
      throw error;
    }
  }

  release(): void {
    if (this.#database === undefined) return;
    // While the lock is held, so that the next holder's name is not the one removed.
    rmSync(holderFile(this.#data), { force: true });
    this.#database.close();
    this.#database = undefined;
  }
}

function tryLock(data: DataDirectory): DatabaseSync | undefined {
  mkdirSync(data.warehouse, { recursive: true });
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(data.lockFile, { timeout: 0 });
    database.exec('BEGIN EXCLUSIVE');
    return database;
  } catch (error) {
    database?.close();
    if ((error as { errcode?: number }).errcode === sqliteBusy) return undefined;
    throw new OfferlineError(`The lock ${data.lockFile} cannot be taken: ${(error as Error).message}. The folder must be writable and on a file system with locks.`, undefined, { cause: error });
  }
}

function holderFile(data: DataDirectory): string {
  return `${data.lockFile}.json`;
}

function describe(holder: LockHolder | undefined): string {
  return holder === undefined ? 'another process' : `"${holder.command}" (process ${holder.pid}, since ${holder.since})`;
}
