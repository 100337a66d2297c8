import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { DatabaseSync } from 'node:sqlite';
import { makePrivateFolder } from './effects.ts';
import { OfferlineError } from '../errors/errors.ts';
import { machineFailure, isDiskUnwritable } from '../errors/machine-failure.ts';
import { isSqliteDamage } from '../sqlite/open-sqlite.ts';
import { momentOfMilliseconds } from '../time/moment.ts';

/** What one process at a time may hold. */
export interface Lockable {
  /** As in "the warehouse is busy". */
  name: string;
  lockFile: string;
  /** What to throw when it stays taken. */
  busy(message: string): OfferlineError;
}

/** Who holds a lock, as that process wrote it down. */
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

export interface ProcessLock {
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
/**
 * Whoever looks whether the lock is held keeps it from being taken for some microseconds: that is waited for, and no
 * word said.
 */
const lookedAtMilliseconds = 100;

/** SQLite's SQLITE_BUSY: another connection has the lock. */
const sqliteBusy = 5;

/**
 * Takes a lock, which one process at a time holds. An exclusive SQLite transaction on an
 * otherwise empty file is the lock: the operating system holds it, so it is gone at once when the process dies,
 * and child processes do not inherit it. The lock file itself is never read or removed: either would break the lock.
 * What a loss of power has left in it is cut off in place, which only somebody can come to who finds it unlocked.
 *
 * Waits for another holder up to `waitSeconds`, then throws what the lock names, with the holder in the message.
 */
export async function acquireProcessLock(
  lockable: Lockable,
  request: LockRequest,
  effects: LockEffects = realLockEffects,
): Promise<ProcessLock> {
  const start = effects.now();
  let told = false;
  for (;;) {
    const database = tryLock(lockable.lockFile);
    if (database !== undefined)
      return new HeldLock(lockable.lockFile, database, {
        pid: process.pid,
        command: request.command,
        since: momentOfMilliseconds(effects.now()),
      });
    const remaining = start + request.waitSeconds * 1000 - effects.now();
    if (remaining <= 0) {
      throw lockable.busy(
        `The ${lockable.name} ${request.waitSeconds === 0 ? 'is busy' : `stayed busy for ${request.waitSeconds} s`}: ${describe(lastHolder(lockable.lockFile))} holds it. Run again when that has ended; nothing was changed.`,
      );
    }
    if (!told)
      request.onWaiting(
        `Waiting up to ${request.waitSeconds} s for the ${lockable.name}: ${describe(lastHolder(lockable.lockFile))} holds it.`,
      );
    told = true;
    await effects.wait(Math.min(pollMilliseconds, remaining));
  }
}

/**
 * Who holds the lock now; undefined where nobody does. Writes nothing, and neither the holder nor who waits for it
 * notices.
 */
export function readLockHolder(lockFile: string): LockHolder | undefined {
  return isHeld(lockFile) ? lastHolder(lockFile) : undefined;
}

/** Who took the lock last: a process that was killed leaves its name behind. */
function lastHolder(lockFile: string): LockHolder | undefined {
  try {
    return JSON.parse(readFileSync(holderFile(lockFile), 'utf8')) as LockHolder;
  } catch {
    // Between taking the lock and writing the name, and after a clean release, there is none.
    return undefined;
  }
}

class HeldLock implements ProcessLock {
  readonly #lockFile: string;
  #database: DatabaseSync | undefined;

  constructor(lockFile: string, database: DatabaseSync, holder: LockHolder) {
    this.#lockFile = lockFile;
    this.#database = database;
    const temporary = `${holderFile(lockFile)}.tmp`;
    try {
      writeFileSync(temporary, `${JSON.stringify(holder)}\n`);
      renameSync(temporary, holderFile(lockFile));
    } catch (error) {
      if (!isDiskUnwritable(error)) {
        this.release();
        throw error;
      }
      // It is held all the same. Nobody else's name must stand for ours, or the half of one.
      rmSync(holderFile(lockFile), { force: true });
      rmSync(temporary, { force: true });
    }
  }

  release(): void {
    if (this.#database === undefined) return;
    // While the lock is held, so that the next holder's name is not the one removed.
    rmSync(holderFile(this.#lockFile), { force: true });
    this.#database.close();
    this.#database = undefined;
  }
}

function tryLock(lockFile: string, isEmptied = false): DatabaseSync | undefined {
  makePrivateFolder(dirname(lockFile));
  let database: DatabaseSync | undefined;
  try {
    // SQLite does not say why it cannot make a file.
    if (!existsSync(lockFile)) closeSync(openSync(lockFile, 'a'));
    database = new DatabaseSync(lockFile, { timeout: lookedAtMilliseconds });
    // Nothing is ever written, but its journal would be begun, for which a full disk has no room.
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    // Of a file that it may only read SQLite takes a lock that others may have, too.
    accessSync(lockFile, constants.W_OK);
    return database;
  } catch (error) {
    database?.close();
    const errcode = sqliteCode(error);
    if (errcode === sqliteBusy) return undefined;
    if (isSqliteDamage(error) && !isEmptied) {
      truncateSync(lockFile, 0);
      return tryLock(lockFile, true);
    }
    throw (
      machineFailure(error) ??
      new OfferlineError(
        `The lock ${lockFile} cannot be taken: ${(error as Error).message}. The folder must be writable and on a file system with locks.`,
        undefined,
        { cause: error },
      )
    );
  }
}

/** Reading needs a lock that others who read may have too, and that who holds the file exclusively lets nobody have. */
function isHeld(lockFile: string): boolean {
  if (!existsSync(lockFile)) return false;
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(lockFile, { readOnly: true, timeout: 0 });
    database.exec('SELECT count(*) FROM sqlite_schema');
    return false;
  } catch (error) {
    const errcode = sqliteCode(error);
    if (errcode === sqliteBusy) return true;
    // Could be read, which is what was to be known.
    if (isSqliteDamage(error)) return false;
    throw (
      machineFailure(error) ??
      new OfferlineError(
        `Whether the lock ${lockFile} is held cannot be seen: ${(error as Error).message}. The file must be readable and on a file system with locks.`,
        undefined,
        { cause: error },
      )
    );
  } finally {
    database?.close();
  }
}

function sqliteCode(error: unknown): number {
  return (error as { errcode?: number }).errcode ?? 0;
}

function holderFile(lockFile: string): string {
  return `${lockFile}.json`;
}

function describe(holder: LockHolder | undefined): string {
  return holder === undefined
    ? 'another process'
    : `"${holder.command}" (process ${holder.pid}, since ${holder.since})`;
}
