import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { createHash } from 'node:crypto';
import { rm, stat } from 'node:fs/promises';
import { modifiedNsOf } from '../../../kit/files/file-version.ts';
import { programFile } from '../../../kit/files/package-files.ts';
import type { ScoreHeader } from '../../../kit/intake/reading/header-search.ts';
import { UnusableFile, type FileProblem } from '../../../kit/intake/reading/record-sink.ts';
import { namingFile, type CheckedFile, type LandingFile, type FileLines } from '../landing-file.ts';
import type { LandingMapping } from '../lines/map-lines.ts';
import { sha256Of } from '../../../kit/files/read-through.ts';
import { assertNotStopped, StoppedError } from '../../../kit/errors/errors.ts';
import { asLines, stoppedReading, toNdjson, type ConvertibleFile, type ConvertedFile } from '../lines/to-ndjson.ts';

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
  /** Returns how a file is mapped, if it is. */
  mappingOf?: (file: LandingFile) => LandingMapping | undefined;
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
  { onRead = () => {}, limits = noLimits, mappingOf = () => undefined, stop }: CheckOptions = {},
): Promise<CheckedLanding> {
  const total = files.reduce((sum, file) => sum + file.bytes, 0);
  const checks: FileCheck[] = [];
  const queue = files.map((file, index) => ({
    file,
    index,
    reading: { scratchPath: join(scratch, `plain-${index}`), limits, mapping: mappingOf(file) },
  }));
  queue.sort((a, b) => b.file.bytes - a.file.bytes);

  const drain = async (check: (task: (typeof queue)[number]) => Promise<FileCheck>) => {
    for (let task = queue.shift(); task !== undefined; task = queue.shift()) {
      assertNotStopped(stop, stoppedReading);
      try {
        checks[task.index] = await check(task);
      } catch (error) {
        throw namingFile(error, task.file);
      }
      onRead(task.file.bytes);
    }
  };
  if (total < minWorkerBytes) {
    await drain(({ file, reading }) => checkFile(file, { ...reading, stop }));
  } else {
    const workers = Array.from({ length: Math.min(availableParallelism(), files.length) }, () => new CheckWorker());
    const ending = Promise.withResolvers<never>();
    const onStop = () => ending.reject(new StoppedError(stoppedReading));
    stop?.addEventListener('abort', onStop);
    try {
      const checking = Promise.all(workers.map((worker) => drain(({ file, reading }) => worker.check(file, reading))));
      await Promise.race([checking, ending.promise]);
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
  readonly #worker = new Worker(programFile('src/pipeline/landing/files/check-file-worker'));

  check(file: LandingFile, reading: CheckReading): Promise<FileCheck> {
    return new Promise((resolve, reject) => {
      const onResult = (result: { check: FileCheck } | { error: Error }) => {
        this.#worker.off('error', reject);
        if ('error' in result) reject(result.error);
        else resolve(result.check);
      };
      this.#worker.once('message', onResult);
      this.#worker.once('error', reject);
      this.#worker.postMessage({ file, reading });
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
  /** A packed file or a document of more bytes counts as broken. */
  maxUnpackedBytes: number;
  /** A file that was changed after it may not be done. */
  doneBeforeNs: bigint;
}

/** A CSV file that is still written may break off anywhere, also within its last cell. */
export const unfinishedForNs = 600n * 1_000_000_000n;

export const noLimits: CheckLimits = { maxUnpackedBytes: Infinity, doneBeforeNs: 2n ** 63n };

type FileToCheck = ConvertibleFile & Pick<LandingFile, 'modifiedNs' | 'changedNs'>;

/** Parameters of the reading of a file. */
export interface CheckReading {
  scratchPath: string;
  limits?: CheckLimits;
  mapping?: LandingMapping | undefined;
  /** Finds a header below titles. */
  score?: ScoreHeader | undefined;
  stop?: AbortSignal | undefined;
}

/**
 * Reads the file once: digest, format, wholeness of what is packed, valid text, first and last bytes of Parquet.
 * DuckDB loads half of a broken gzip without an error and turns bad UTF-8 into NULL, so this must happen before it.
 * What does not lie there as plain lines is written beside `scratchPath` as such.
 */
export async function checkFile(
  file: FileToCheck,
  { scratchPath, limits = noLimits, mapping, score, stop }: CheckReading,
): Promise<FileCheck> {
  const hash = createHash('sha256');
  let read: ConvertedFile = { ...asLines(file), problem: undefined, endsLine: true };
  let sha256: string | undefined;
  try {
    const onBytes = (bytes: Buffer) => void hash.update(bytes);
    read = await toNdjson(file, scratchPath, {
      maxUnpackedBytes: limits.maxUnpackedBytes,
      onBytes,
      mapping,
      score,
      stop,
    });
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
    if (!(error instanceof UnusableFile)) throw error;
    read.problem = error.problem;
    // The digest of a file whose reading ended in the middle covers the part read; take the rest as well.
    sha256 = await sha256Of(file.absolutePath);
  }
  const after = await stat(file.absolutePath, { bigint: true }).catch(() => undefined);
  const unstable = after === undefined || Number(after.size) !== file.bytes || modifiedNsOf(after) !== file.modifiedNs;
  const { problem, endsLine, ...readable } = read;
  const unfinished = read.format === 'csv' && !endsLine && lastChangeNs(file) > limits.doneBeforeNs;
  if (problem !== undefined) await rm(`${scratchPath}.ndjson`, { force: true });
  return { ...readable, sha256: sha256 ?? hash.digest('hex'), unstable, unfinished, ...(problem && { problem }) };
}

/** A modification time may be set to any moment, also to one that is yet to come. */
export function lastChangeNs({ modifiedNs, changedNs }: Pick<LandingFile, 'modifiedNs' | 'changedNs'>): bigint {
  return modifiedNs < changedNs ? modifiedNs : changedNs;
}
