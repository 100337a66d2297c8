import { realEffects, type Effects } from '../../../src/kit/files/effects.ts';
import type { AppendFile } from '../../../src/kit/files/append-file.ts';

/** Real logs, on a disk that fails where the test says so. */
export class FailingDisk implements AsyncDisposable {
  /** Called before each step of a log, such as `log of clicks: appended`; may throw. */
  before: (step: string) => void = () => {};
  /** Bytes of an addition that are written before `before` is called. */
  writesFirst = 0;
  /** For each log that was opened true where additions are forced to the disk. */
  readonly forced: Record<string, boolean> = {};
  readonly #opened: AppendFile[] = [];

  get files(): Partial<Effects['files']> {
    return { openLog: (path, step, isForced) => this.#open(path, step, isForced) };
  }

  async #open(path: string, opened: string, isForced: boolean): Promise<AppendFile> {
    const file = await realEffects.files.openLog(path, opened, isForced);
    this.forced[opened] = isForced;
    this.#opened.push(file);
    const step = (name: string) => this.before(name);
    return {
      append: async (bytes, name) => {
        const written = this.writesFirst > 0 ? await file.append(bytes.subarray(0, this.writesFirst), name) : 0;
        step(name);
        return written + (await file.append(bytes.subarray(written), name));
      },
      sync: async (name) => {
        step(name);
        await file.sync(name);
      },
      truncate: (bytes, name) => file.truncate(bytes, name),
      isAt: (at) => file.isAt(at),
      read: (at, bytes) => file.read(at, bytes),
      close: () => file.close(),
    };
  }

  /** A tracker whose disk failed leaves its files to the end of the process. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const file of this.#opened) await file.close().catch(() => undefined);
  }
}

/** The system's error by its code, such as `ENOSPC`. */
export function failure(code: string): Error {
  return Object.assign(new Error(`${code}: the disk failed`), { code });
}
