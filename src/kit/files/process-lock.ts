import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  openSync,
  readFileSync,
  renameSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { DatabaseSync } from 'node:sqlite';
import { makePrivateFolder } from './effects.ts';
import { removeIfPossible } from './remove-if-possible.ts';
import { OfferlineError } from '../errors/errors.ts';
import { machineFailure, isDiskUnwritable } from '../errors/machine-failure.ts';
import { isSqliteDamage } from '../sqlite/open-sqlite.ts';
import { momentOfMilliseconds } from '../time/moment.ts';

/** A resource that one process at a time may hold. */
interface Lockable {
  /** Name within a sentence: "the warehouse is busy". */
  name: string;
  lockFile: string;
  /** Creates the error for a lock that stays taken. */
  busy(message: string): OfferlineError;
}

/** Holder of a lock, as written by its process. */
export interface LockHolder {
  pid: number;
  /** Command, such as `run refresh`. */
  command: string;
  /** Time of taking the lock, UTC. */
  since: string;
}

export interface LockRequest {
  /** Command of the holder, for processes that wait for it. */
  command: string;
  /** Infinity for one that is on standby. */
  waitSeconds: number;
  /** Called once, with a sentence for the operator, when the lock is not free at once. */
  onWaiting(message: string): void;
  /** Ends the waiting with its reason. */
  signal?: AbortSignal | undefined;
}

export interface ProcessLock {
  /** Lets the next one in. May be called twice. */
  release(): void;
}

/** Clocks of a lock, in milliseconds. */
export interface LockEffects {
  /** Time since the epoch, which the name of the holder shows. */
  now(): number;
  /** The clock that waits go by: nobody sets it. */
  steady(): number;
  wait(milliseconds: number): Promise<void>;
}

const realLockEffects: LockEffects = {
  now: () => Date.now(),
  steady: () => performance.now(),
  wait: (milliseconds) => setTimeout(milliseconds),
};

/** Interval between tries. */
const pollMilliseconds = 200;
/** A reader of the lock keeps it from being taken for some microseconds: taking it waits that long in silence. */
const lookedAtMilliseconds = 100;

/** SQLite's SQLITE_BUSY: another connection has the lock. */
const sqliteBusy = 5;

/**
 * Takes a lock, which one process at a time holds: an exclusive SQLite transaction on an otherwise empty file. The
 * operating system holds it, so it is free at once when the process dies, and child processes do not inherit it. The
 * lock file is never read or removed, which would break the lock. Bytes that a loss of power leaves in it are cut off,
 * which only a process that finds it unlocked can do. Waits for another holder up to `waitSeconds`, then throws the
 * error of the lock, with the holder in the message.
 */
export async function acquireProcessLock(
  lockable: Lockable,
  request: LockRequest,
  effects: LockEffects = realLockEffects,
): Promise<ProcessLock> {
  const start = effects.steady();
  let isReported = false;
  for (;;) {
    const database = tryLock(lockable.lockFile);
    if (database !== undefined)
      return new HeldLock(lockable.lockFile, database, {
        pid: process.pid,
        command: request.command,
        since: momentOfMilliseconds(effects.now()),
      });
    const remaining = start + request.waitSeconds * 1000 - effects.steady();
    if (remaining <= 0) {
      throw lockable.busy(
        `The ${lockable.name} ${request.waitSeconds === 0 ? 'is busy' : `stayed busy for ${request.waitSeconds} s`}: ${describe(lastHolder(lockable.lockFile))} holds it. Run again when that has ended; nothing was changed.`,
      );
    }
    if (!isReported) {
      const atMost = request.waitSeconds === Infinity ? '' : ` up to ${request.waitSeconds} s`;
      request.onWaiting(
        `Waiting${atMost} for the ${lockable.name}: ${describe(lastHolder(lockable.lockFile))} holds it.`,
      );
    }
    isReported = true;
    await effects.wait(Math.min(pollMilliseconds, remaining));
    request.signal?.throwIfAborted();
  }
}

/**
 * Returns the current holder; undefined where nobody holds the lock. Writes nothing, and neither the holder nor waiting
 * processes notice.
 */
export function readLockHolder(lockFile: string): LockHolder | undefined {
  return isLockHeld(lockFile) ? lastHolder(lockFile) : undefined;
}

/** Returns the last holder: a killed process leaves its name behind. */
function lastHolder(lockFile: string): LockHolder | undefined {
  try {
    return JSON.parse(readFileSync(holderFile(lockFile), 'utf8')) as LockHolder;
  } catch {
    // Before the name is written, and after a clean release, there is none.
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
      // The lock is held all the same, and the file must not have another's name, or half of one.
      removeIfPossible(holderFile(lockFile));
      removeIfPossible(temporary);
    }
  }

  release(): void {
    if (this.#database === undefined) return;
    // Before the release, so that the next holder's name is not the one removed. A name that is left says no more than
    // that of a killed process.
    removeIfPossible(holderFile(this.#lockFile));
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
    // Nothing is ever written, but SQLite would begin a journal, for which a full disk has no room.
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    // SQLite locks a read-only file in a way that others may share.
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

/**
 * True while a process holds the lock. Reads the file: that needs a lock which readers share and an exclusive holder
 * keeps from all.
 */
export function isLockHeld(lockFile: string): boolean {
  if (!existsSync(lockFile)) return false;
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(lockFile, { readOnly: true, timeout: 0 });
    database.exec('SELECT count(*) FROM sqlite_schema');
    return false;
  } catch (error) {
    const errcode = sqliteCode(error);
    if (errcode === sqliteBusy) return true;
    // A damaged file could be read, so nobody holds it.
    if (isSqliteDamage(error)) return false;
    throw (
      machineFailure(error) ??
      new OfferlineError(
        `The lock ${lockFile} cannot be checked: ${(error as Error).message}. The file must be readable and on a file system with locks.`,
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
