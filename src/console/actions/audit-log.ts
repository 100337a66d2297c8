import { open, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { makePrivateFolder } from '../../kit/files/effects.ts';

const jobId = z.string().regex(/^[0-9a-z-]{1,64}$/);
const counts = z.record(z.string(), z.number());

/** Written before the process starts. */
const intentSchema = z.object({
  type: z.literal('intent'),
  at: z.string(),
  job: jobId,
  action: z.string(),
  user: z.string(),
  request_id: z.string(),
  digest: z.string(),
  parameters: z.unknown(),
  /** The command as people type it. */
  command: z.string(),
  /** The counts of the preview. */
  counts,
});
export type ActionIntent = z.output<typeof intentSchema>;

/** Written when the process has ended. */
const outcomeSchema = z.object({
  type: z.literal('outcome'),
  at: z.string(),
  job: jobId,
  /** `stopped`: the console ended, and asked the command to end too. */
  state: z.enum(['done', 'failed', 'stopped', 'killed']),
  exit_code: z.int().nullable(),
  signal: z.string().nullable(),
  run_id: z.int().nullable(),
  snapshot_id: z.string().nullable(),
  counts,
  error: z.string().nullable(),
});
export type ActionOutcome = z.output<typeof outcomeSchema>;

const entrySchema = z.discriminatedUnion('type', [intentSchema, outcomeSchema]);
export type AuditEntry = z.output<typeof entrySchema>;

/** The log of actions: a line for each intent and each outcome, on the disk before the next step. */
export class AuditLog {
  readonly #file: string;
  #last: Promise<unknown> = Promise.resolve();

  constructor(data: DataDirectory) {
    this.#file = join(data.console, 'actions.ndjson');
  }

  /** Returns the readable entries; a line that a killed process left incomplete is skipped. */
  async read(): Promise<AuditEntry[]> {
    const text = await readFile(this.#file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
      return '';
    });
    return text.split('\n').flatMap((line) => entryOf(line) ?? []);
  }

  /** Appends one entry after the other; resolves when it is on the disk. */
  append(entry: AuditEntry): Promise<void> {
    const appended = this.#last.then(() => appendLine(this.#file, JSON.stringify(entry)));
    this.#last = appended.catch(() => undefined);
    return appended;
  }
}

async function appendLine(file: string, line: string): Promise<void> {
  makePrivateFolder(dirname(file));
  const handle = await open(file, 'a+', 0o600);
  try {
    const { size } = await handle.stat();
    const last = Buffer.alloc(1, '\n');
    if (size > 0) await handle.read(last, 0, 1, size - 1);
    // The next entry must not join a line that a killed process left incomplete.
    await handle.appendFile(`${last.toString() === '\n' ? '' : '\n'}${line}\n`);
    await handle.sync();
    if (size === 0) await syncFolder(dirname(file));
  } finally {
    await handle.close();
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function entryOf(line: string): AuditEntry | undefined {
  try {
    return entrySchema.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}
