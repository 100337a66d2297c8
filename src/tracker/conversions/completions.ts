import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { isDiskUnwritable } from '../../kit/errors/machine-failure.ts';
import { makePrivateFolder, replaceFile, type FileEffects } from '../../kit/files/effects.ts';
import { readLines } from '../../kit/files/read-lines.ts';
import type { Logger } from '../../kit/logging/log.ts';
import { SingleFlight } from '../../kit/time/single-flight.ts';
import type { ConversionLog, RecordOutcome } from './conversion-log.ts';
import type { ClickUser } from './report/known-clicks.ts';
import type { ConversionRecord } from './report/conversion-record.ts';

/** An offer or milestone that a user may complete once. */
export interface Completion {
  offerId: number;
  eventId: string | undefined;
  user: ClickUser;
}

/** A line of the file. */
interface Entry {
  /** Digest of the user and of the offer or milestone: the file names nobody. */
  key: string;
  /** Null where no conversion holds it. */
  conversion_id: string | null;
  /** Present when the conversion's row was on the disk before this line. */
  is_recorded?: true;
}

type Known = Pick<ConversionLog, 'compare' | 'record' | 'isCredited' | 'isUndone'>;

/**
 * Conversions by which users have completed offers and milestones, for sources that pay a user once. A line goes to the
 * disk before the conversion's row does, and another one after it: where the second is missing, the tracker's logs
 * show whether the row was recorded. A completion that is taken back may come again. About 150 bytes of memory each.
 */
export class Completions {
  readonly #path: string;
  readonly #conversions: Known;
  readonly #holders: Map<string, string>;
  readonly #files: FileEffects;
  readonly #log: Logger;
  readonly #underWay = new Map<string, Promise<unknown>>();
  #isDecided = true;
  readonly #deciding = new SingleFlight(() => this.#decide());

  private constructor(path: string, conversions: Known, holders: Map<string, string>, files: FileEffects, log: Logger) {
    this.#path = path;
    this.#conversions = conversions;
    this.#holders = holders;
    this.#files = files;
    this.#log = log;
  }

  /** `now`: milliseconds since the epoch. */
  static async open(
    data: DataDirectory,
    conversions: Known,
    now: number,
    files: FileEffects,
    log: Logger,
  ): Promise<Completions> {
    const path = data.completionsFile;
    const isThere = existsSync(path);
    const isCredited = (id: string) => conversions.isCredited(id, now);
    const holders = isThere ? await readHolders(path, isCredited) : new Map<string, string>();
    for (const [key, id] of holders) if (conversions.isUndone(id, now)) holders.delete(key);
    const completions = new Completions(path, conversions, holders, files, log);
    if (isThere) await completions.#decide().catch((error: unknown) => completions.#decideLater(error));
    return completions;
  }

  /** Writes the file anew, with what the logs have decided: they do not go back as far as it does. */
  async #decide(): Promise<void> {
    await replaceFile(this.#path, linesOf(recordedOf(this.#holders)), 'completions', this.#files, 0o600);
    this.#isDecided = true;
  }

  #decideLater(error: unknown): void {
    if (!isDiskUnwritable(error)) throw error;
    this.#isDecided = false;
    this.#log.warn(
      { reason: (error as Error).message },
      `the disk takes nothing, so ${this.#path} is written anew with the next completion; until it can be, credits of sources that pay a user once are answered 503`,
    );
  }

  /** Records a credit as `ConversionLog.record` does, unless the user has completed this by another conversion. */
  async record(
    row: ConversionRecord,
    completion: Completion,
    now: number,
  ): Promise<RecordOutcome | 'already_completed'> {
    const key = keyOf(completion);
    for (let first; (first = this.#underWay.get(key)) !== undefined;) await first.catch(() => {});
    const recording = this.#record(row, key, now);
    this.#underWay.set(key, recording);
    try {
      return await recording;
    } finally {
      this.#underWay.delete(key);
    }
  }

  async #record(row: ConversionRecord, key: string, now: number): Promise<RecordOutcome | 'already_completed'> {
    const holder = this.#holders.get(key);
    if (holder === row.conversionId || this.#conversions.compare(row, now) !== 'new')
      return this.#conversions.record(row, now);
    if (holder !== undefined && !this.#conversions.isUndone(holder, now)) return 'already_completed';
    await this.#write({ key, conversion_id: row.conversionId });
    let outcome: RecordOutcome | undefined;
    try {
      outcome = await this.#conversions.record(row, now);
      return outcome;
    } finally {
      await this.#settle(key, outcome === 'recorded' ? row.conversionId : (holder ?? null));
    }
  }

  /** Lets the user of a conversion that was taken back complete this again. */
  async release(conversionId: string, completion: Completion): Promise<void> {
    const key = keyOf(completion);
    if (this.#holders.get(key) === conversionId) await this.#settle(key, null);
  }

  /** Keeps what its row on the disk has decided. An error is logged: a start finds the same in the logs. */
  async #settle(key: string, conversionId: string | null): Promise<void> {
    if (conversionId === null) this.#holders.delete(key);
    else this.#holders.set(key, conversionId);
    try {
      await this.#write({ key, conversion_id: conversionId, is_recorded: true });
    } catch (error) {
      this.#log.error(
        { reason: (error as Error).message },
        `what a user has completed could not be written to ${this.#path}: it counts all the same, and the next start reads it from the tracker's logs; see that the disk takes it again`,
      );
    }
  }

  async #write(entry: Entry): Promise<void> {
    const folder = dirname(this.#path);
    makePrivateFolder(folder);
    // Before any line is added: it would be lost with the file that is replaced.
    if (!this.#isDecided) await this.#deciding.run();
    const file = await open(this.#path, 'a', 0o600);
    try {
      const isNew = (await file.stat()).size === 0;
      // It may have been taken away with all of landing.
      const lost = isNew ? linesOf(recordedOf(this.#holders)) : Buffer.alloc(0);
      // A kill may have left a part of a line.
      await file.appendFile(Buffer.concat([Buffer.from('\n'), lost, linesOf([entry])]));
      await file.datasync();
      if (isNew) await this.#files.syncDirectory(folder, 'completions: folder synced');
    } finally {
      await file.close();
    }
  }
}

function keyOf({ offerId, eventId, user }: Completion): string {
  const digest = hash('sha256', JSON.stringify([offerId, eventId ?? null, user.siteKey, user.userId]), 'base64url');
  return digest.slice(0, 22);
}

/** Reads the conversions by which users have completed what they did: the last line of each counts. */
async function readHolders(path: string, isCredited: (conversionId: string) => boolean): Promise<Map<string, string>> {
  const holders = new Map<string, string>();
  /** Keys whose last line is from before the conversion's row. */
  const undecided = new Set<string>();
  await readLines(path, (line) => {
    const entry = entryOf(line);
    if (entry === undefined) return;
    const { key, conversion_id: id, is_recorded: isRecorded } = entry;
    if (id === null) holders.delete(key);
    else holders.set(key, id);
    if (id === null || isRecorded === true) undecided.delete(key);
    else undecided.add(key);
  });
  for (const key of undecided) if (!isCredited(holders.get(key) as string)) holders.delete(key);
  return holders;
}

function* recordedOf(holders: ReadonlyMap<string, string>): Generator<Entry> {
  for (const [key, id] of holders) yield { key, conversion_id: id, is_recorded: true };
}

/** Characters of lines that become bytes together: one text of all lines may be longer than the engine allows. */
const linesLength = 2 ** 20;

function linesOf(entries: Iterable<Entry>): Buffer {
  const written: Buffer[] = [];
  let lines = '';
  for (const entry of entries) {
    lines += `${JSON.stringify(entry)}\n`;
    if (lines.length < linesLength) continue;
    written.push(Buffer.from(lines));
    lines = '';
  }
  return Buffer.concat([...written, Buffer.from(lines)]);
}

/** Undefined for a torn line, which a kill leaves. */
function entryOf(line: string): Entry | undefined {
  try {
    const entry = JSON.parse(line) as Partial<Entry> | null;
    const { key, conversion_id: id, is_recorded: isRecorded } = entry ?? {};
    const isWhole = typeof key === 'string' && (typeof id === 'string' || id === null);
    return isWhole ? { key, conversion_id: id, ...(isRecorded === true && { is_recorded: true }) } : undefined;
  } catch {
    return undefined;
  }
}
