import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { checkFile, noLimits, type CheckLimits, type FileCheck } from './check-file.ts';
import type { CheckedFile, LandingFile } from '../landing-file.ts';

/** Below this many bytes in all, starting a worker costs more than it saves. */
const worthAWorkerBytes = 16 * 1024 * 1024;

export interface CheckedLanding {
  readable: CheckedFile[];
  broken: { file: CheckedFile; reason: string; detail: string }[];
  /** Changed while we read them; the next run looks again. */
  unstable: LandingFile[];
  /** Their last line has no end, and they were changed lately; a later run looks again. */
  unfinished: LandingFile[];
}

export interface CheckOptions {
  /** Called with the bytes of every file that is done. */
  onRead?: (bytes: number) => void;
  limits?: CheckLimits;
}

/**
 * Checks each file's bytes (digest, wholeness, encoding), in worker threads where there is enough to read.
 * Results keep the order of `files`.
 */
export async function checkFiles(
  files: LandingFile[],
  scratch: string,
  { onRead = () => {}, limits = noLimits }: CheckOptions = {},
): Promise<CheckedLanding> {
  const total = files.reduce((sum, file) => sum + file.bytes, 0);
  const checks: FileCheck[] = [];
  const queue = files.map((file, index) => ({ file, index, scratchPath: join(scratch, `plain-${index}`) }));
  queue.sort((a, b) => b.file.bytes - a.file.bytes);

  const drain = async (check: (task: (typeof queue)[number]) => Promise<FileCheck>) => {
    for (let task = queue.shift(); task !== undefined; task = queue.shift()) {
      checks[task.index] = await check(task);
      onRead(task.file.bytes);
    }
  };
  if (total < worthAWorkerBytes) {
    await drain(({ file, scratchPath }) => checkFile(file, scratchPath, limits));
  } else {
    const workers = Array.from({ length: Math.min(availableParallelism(), files.length) }, () => new CheckWorker());
    try {
      await Promise.all(
        workers.map((worker) => drain(({ file, scratchPath }) => worker.check(file, scratchPath, limits))),
      );
    } finally {
      await Promise.all(workers.map((worker) => worker.stop()));
    }
  }

  const landing: CheckedLanding = { readable: [], broken: [], unstable: [], unfinished: [] };
  files.forEach((file, index) => {
    const { problem, unstable, unfinished, ...check } = checks[index] as FileCheck;
    const checked: CheckedFile = { ...file, ...check };
    if (unstable) landing.unstable.push(file);
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
