import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { createHash } from 'node:crypto';
import { rm, stat } from 'node:fs/promises';
import type { CheckedFile, LandingFile, FileLines, FileProblem } from '../landing-file.ts';
import { TooManyBytes } from '../lines/line-file.ts';
import { sha256Of } from '../../../kit/files/read-through.ts';
import { assertNotStopped, StoppedError } from '../../../kit/errors/errors.ts';
import {
  asLines,
  stoppedReading,
  toNdjson,
  UnusableFile,
  type ConvertibleFile,
  type ConvertedFile,
} from '../lines/to-ndjson.ts';

/** Below this many bytes in all, starting a worker costs more than it saves. */
const minWorkerBytes = 16 * 1024 * 1024;

export interface CheckedLanding {
  readable: CheckedFile[];
  broken: { file: CheckedFile; reason: string; detail: string }[];
  /** Changed while we read them, or could not be opened (`unreadable`: why); the next run looks again. */
  unstable: (LandingFile & { unreadable?: string })[];
  /** Files whose last line has no end and that were changed lately; a later run looks again. */
  unfinished: LandingFile[];
}

export interface CheckOptions {
  /** Called with the bytes of every file that is done. */
  onRead?: (bytes: number) => void;
  limits?: CheckLimits;
  /** Ends the reading where it is; nothing is lost by that. */
  stop?: AbortSignal | undefined;
}

/**
 * Checks each file's bytes (digest, wholeness, encoding), in worker threads where there is enough to read.
 * Results keep the order of `files`. Throws `StoppedError` once `stop` is aborted.
 */
export async function checkFiles(
  files: LandingFile[],
  scratch: string,
  { onRead = () => {}, limits = noLimits, stop }: CheckOptions = {},
): Promise<CheckedLanding> {
  const total = files.reduce((sum, file) => sum + file.bytes, 0);
  const checks: FileCheck[] = [];
  const queue = files.map((file, index) => ({ file, index, scratchPath: join(scratch, `plain-${index}`) }));
  queue.sort((a, b) => b.file.bytes - a.file.bytes);

  const drain = async (check: (task: (typeof queue)[number]) => Promise<FileCheck>) => {
    for (let task = queue.shift(); task !== undefined; task = queue.shift()) {
      assertNotStopped(stop, stoppedReading);
      checks[task.index] = await check(task);
      onRead(task.file.bytes);
    }
  };
  if (total < minWorkerBytes) {
    await drain(({ file, scratchPath }) => checkFile(file, scratchPath, limits, stop));
  } else {
    const workers = Array.from({ length: Math.min(availableParallelism(), files.length) }, () => new CheckWorker());
    const ending = Promise.withResolvers<never>();
    const onStop = () => ending.reject(new StoppedError(stoppedReading));
    stop?.addEventListener('abort', onStop);
    try {
      const reading = Promise.all(
        workers.map((worker) => drain(({ file, scratchPath }) => worker.check(file, scratchPath, limits))),
      );
      await Promise.race([reading, ending.promise]);
    } finally {
      stop?.removeEventListener('abort', onStop);
      await Promise.all(workers.map((worker) => worker.stop()));
    }
  }

  const landing: CheckedLanding = { readable: [], broken: [], unstable: [], unfinished: [] };
  files.forEach((file, index) => {
    const { problem, unstable, unreadable, unfinished, ...check } = checks[index] as FileCheck;
    const checked: CheckedFile = { ...file, ...check };
    if (unstable) landing.unstable.push({ ...file, ...(unreadable !== undefined && { unreadable }) });
    else if (unfinished) landing.unfinished.push(file);
    else if (problem) landing.broken.push({ file: checked, ...problem });
    else landing.readable.push(checked);
  });
  return landing;
}

class CheckWorker {
  readonly #worker = new Worker(new URL('./check-file-worker.ts', import.meta.url));

  check(file: LandingFile, scratchPath: string, limits: CheckLimits): Promise<FileCheck> {
    return new Promise((resolve, reject) => {
      const onResult = (result: { check: FileCheck } | { error: Error }) => {
        this.#worker.off('error', reject);
        if ('error' in result) reject(result.error);
        else resolve(result.check);
      };
      this.#worker.once('message', onResult);
      this.#worker.once('error', reject);
      this.#worker.postMessage({ file, scratchPath, limits });
    });
  }

  async stop(): Promise<void> {
    await this.#worker.terminate();
  }
}

/** Facts that one reading of a file's bytes has shown. */
export interface FileCheck extends FileLines {
  /** SHA-256 of the bytes as they lie in the landing folder. */
  sha256: string;
  /** Reason why the file as a whole cannot be read. */
  problem?: FileProblem;
  /**
   * The file changed under our hands, or went, or could not be opened: what we saw may never have existed as a whole.
   * Look again at the next run.
   */
  unstable: boolean;
  /** Reason why it could not be opened, where it is there. */
  unreadable?: string;
  /** A CSV file whose last line has no end, and that was changed lately: its writer may not be done. */
  unfinished: boolean;
}

export interface CheckLimits {
  /** A packed file or a JSON document of more bytes counts as broken. */
  maxUnpackedBytes: number;
  /** A file that was changed after it may not be done. */
  doneBeforeNs: bigint;
}

/** A CSV file that is still written may break off anywhere, also within its last cell. */
export const unfinishedForNs = 600n * 1_000_000_000n;

export const noLimits: CheckLimits = { maxUnpackedBytes: Infinity, doneBeforeNs: 2n ** 63n };

type FileToCheck = ConvertibleFile & Pick<LandingFile, 'modifiedNs' | 'changedNs'>;

/**
 * Reads the file once: digest, wholeness of a gzip, valid UTF-8, first and last bytes of Parquet.
 * DuckDB loads half of a broken gzip without an error and turns bad UTF-8 into NULL, so this must happen before it.
 * What does not lie there as plain lines is written beside `scratchPath` as such.
 */
export async function checkFile(
  file: FileToCheck,
  scratchPath: string,
  limits: CheckLimits = noLimits,
  stop?: AbortSignal,
): Promise<FileCheck> {
  const hash = createHash('sha256');
  let read: ConvertedFile = { ...asLines(file), problem: undefined, endsLine: true };
  let sha256: string | undefined;
  try {
    read = await toNdjson(file, scratchPath, limits.maxUnpackedBytes, (bytes) => void hash.update(bytes), stop);
  } catch (error) {
    const { code = '', path, syscall } = error as NodeJS.ErrnoException;
    if (syscall === 'open' && path === file.absolutePath)
      return {
        ...asLines(file),
        sha256: '',
        unstable: true,
        unfinished: false,
        ...(code !== 'ENOENT' && { unreadable: code }),
      };
    if (error instanceof TooManyBytes) read.problem = tooLarge(file, limits.maxUnpackedBytes);
    else if (error instanceof UnusableFile) read.problem = error.problem;
    else if (code.startsWith('Z_'))
      read.problem = { reason: 'broken_gzip', detail: `the gzip is truncated or damaged: ${(error as Error).message}` };
    else throw error;
    // The digest of a file whose reading ended in the middle covers the part read; take the rest as well.
    sha256 = await sha256Of(file.absolutePath);
  }
  const after = await stat(file.absolutePath, { bigint: true }).catch(() => undefined);
  const unstable = after === undefined || Number(after.size) !== file.bytes || after.mtimeNs !== file.modifiedNs;
  const { problem, endsLine, ...readable } = read;
  const unfinished = file.format === 'csv' && !endsLine && lastChangeNs(file) > limits.doneBeforeNs;
  if (problem !== undefined) await rm(`${scratchPath}.ndjson`, { force: true });
  return { ...readable, sha256: sha256 ?? hash.digest('hex'), unstable, unfinished, ...(problem && { problem }) };
}

/** A modification time may be set to any moment, also to one that is yet to come. */
export function lastChangeNs({ modifiedNs, changedNs }: Pick<LandingFile, 'modifiedNs' | 'changedNs'>): bigint {
  return modifiedNs < changedNs ? modifiedNs : changedNs;
}

function tooLarge({ gzip }: FileToCheck, limit: number): FileProblem {
  const [reason, what, instead] = gzip
    ? ['unpacked_too_large', 'it unpacks to', 'land it in parts, or unpacked']
    : ['document_too_large', 'its records take', 'land it in parts, or as .ndjson'];
  return {
    reason,
    detail: `${what} more than ${limit} bytes: ${instead}; unpacked_gigabytes in offerline.json is the limit for files to come`,
  };
}
