import { closeSync, openSync } from 'node:fs';
import { open, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { makePrivateFolder } from '../../kit/files/effects.ts';

/** Bytes of the end of a log that are shown. */
const shownLogBytes = 128 * 1024;
const maxAnswerBytes = 16 * 1024 * 1024;

/**
 * Answers and logs of jobs. Processes write to files, not to pipes, so that they go on when the console dies, and their
 * output stays.
 */
export class JobFiles {
  readonly #folder: string;

  constructor(data: DataDirectory) {
    this.#folder = join(data.console, 'jobs');
  }

  /** Opens both files for a process; the caller closes them once the process has started. */
  open(job: string): { answer: number; log: number; close(): void } {
    makePrivateFolder(dirname(this.#folder));
    makePrivateFolder(this.#folder);
    const answer = openSync(this.#answerFile(job), 'wx', 0o600);
    try {
      const log = openSync(this.#logFile(job), 'wx', 0o600);
      return {
        answer,
        log,
        close() {
          closeSync(answer);
          closeSync(log);
        },
      };
    } catch (error) {
      closeSync(answer);
      throw error;
    }
  }

  /** Returns the end of the log, in whole lines; empty where the file is gone. */
  async log(job: string): Promise<string> {
    const file = this.#logFile(job);
    const text = await endOf(file, shownLogBytes);
    return text.isWhole ? text.text : text.text.slice(text.text.indexOf('\n') + 1);
  }

  /** Returns undefined where the command wrote no answer. */
  async answer(job: string): Promise<unknown> {
    const { text, isWhole } = await endOf(this.#answerFile(job), maxAnswerBytes);
    if (!isWhole) return undefined;
    try {
      return JSON.parse(text) as unknown;
    } catch {
      return undefined;
    }
  }

  /** Removes the files of all other jobs. */
  async keepOnly(jobs: ReadonlySet<string>): Promise<void> {
    for (const name of await readdir(this.#folder).catch(() => []))
      if (!jobs.has(name.split('.')[0] ?? '')) await rm(join(this.#folder, name), { force: true });
  }

  #answerFile(job: string): string {
    return join(this.#folder, `${job}.answer.json`);
  }
  #logFile(job: string): string {
    return join(this.#folder, `${job}.log.ndjson`);
  }
}

async function endOf(file: string, most: number): Promise<{ text: string; isWhole: boolean }> {
  const size = await stat(file).then(
    (about) => about.size,
    () => 0,
  );
  if (size === 0) return { text: '', isWhole: true };
  const handle = await open(file);
  try {
    const from = Math.max(0, size - most);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(size - from), 0, size - from, from);
    return { text: buffer.toString('utf8', 0, bytesRead), isWhole: from === 0 };
  } finally {
    await handle.close();
  }
}
