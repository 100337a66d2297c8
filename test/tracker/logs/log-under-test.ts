import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { pino } from 'pino';
import { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { realEffects } from '../../../src/kit/files/effects.ts';
import type { AppendFile } from '../../../src/kit/files/append-file.ts';
import { RowLog } from '../../../src/tracker/logs/row-log.ts';
import { ownLogs } from '../../../src/tracker/logs/log-names.ts';

/** Faults of a disk, by the step's name without its kind. */
export interface Faults {
  /** Called before each step; may throw, or hold it up. */
  before?: (step: string) => Promise<void> | void;
  /** Bytes of an addition that are taken; by default all. */
  takes?: (bytes: number) => number;
  freeBytes?: () => number;
}

/** A log of clicks over real files, with a clock and a disk that do as the test says. */
export class LogUnderTest implements AsyncDisposable {
  readonly data = new DataDirectory(mkdtempSync(join(tmpdir(), 'offerline-log-')));
  now = Date.UTC(2026, 10, 20, 12, 0);
  readonly steps: string[] = [];
  /** Folders that were forced to the disk, within the data directory. */
  readonly synced: string[] = [];
  readonly logged: string[] = [];
  broken = 0;
  readonly log: RowLog;
  readonly faults: Faults;
  readonly #opened: AppendFile[] = [];
  /** For each file true where additions are to be on the disk once they are made. */
  readonly forced: boolean[] = [];

  constructor(faults: Faults = {}, durability: 'power' | 'process' = 'power') {
    this.faults = faults;
    this.log = new RowLog({
      data: this.data,
      kind: 'clicks',
      durability,
      maxAge: 60_000,
      effects: { now: () => this.now, files: this.#files() },
      log: pino({ level: 'debug' }, { write: (line: string) => void this.logged.push(line) }),
      onBroken: () => void this.broken++,
    });
  }

  /** Names of the files as they are now, with the rows that are in them. */
  get files(): Record<string, string> {
    return Object.fromEntries(
      ownLogs(this.data, 'clicks').map(({ path, day, isWhole }) => [
        `${day}/${basename(path).split('-').at(-1)?.slice(0, 6)}${isWhole ? '' : '.part'}`,
        readFileSync(path, 'utf8'),
      ]),
    );
  }

  get folders(): string[] {
    return readdirSync(join(this.data.landing, 'clicks', 'tracker')).toSorted();
  }

  #files() {
    const real = realEffects.files;
    const step = async (name: string) => {
      const short = name.replace('log of clicks: ', '');
      this.steps.push(short);
      await this.faults.before?.(short);
    };
    return {
      ...real,
      freeBytes: async () => this.faults.freeBytes?.() ?? 2 ** 40,
      rename: async (from: string, to: string, name: string) => {
        await step(name);
        await real.rename(from, to, name);
      },
      remove: async (path: string, name: string) => {
        await step(name);
        await real.remove(path, name);
      },
      syncDirectory: async (path: string, name: string) => {
        await step(name);
        this.synced.push(path.slice(this.data.root.length));
        await real.syncDirectory(path, name);
      },
      openLog: async (path: string, name: string, isForced: boolean): Promise<AppendFile> => {
        await step(name);
        const file = await real.openLog(path, name, isForced);
        this.#opened.push(file);
        this.forced.push(isForced);
        return {
          append: async (bytes, appended) => {
            await step(appended);
            const taken = this.faults.takes?.(bytes.length) ?? bytes.length;
            return file.append(bytes.subarray(0, taken), appended);
          },
          sync: async (synced) => {
            await step(synced);
            await file.sync(synced);
          },
          truncate: async (bytes, cut) => {
            await step(cut);
            await file.truncate(bytes, cut);
          },
          isAt: (at) => file.isAt(at),
          read: (at, bytes) => file.read(at, bytes),
          close: () => file.close(),
        };
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.broken === 0) await this.log.close();
    // A log that is broken leaves its files to the end of the process.
    for (const file of this.#opened) await file.close().catch(() => undefined);
    rmSync(this.data.root, { recursive: true });
  }
}

/** The system's error where there is no room. */
export function noRoom(): Error {
  return Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
}
