import { open, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { makePrivateFolder } from '../../kit/files/effects.ts';

const jobId = z.string().regex(/^[0-9a-z-]{1,64}$/);
const counts = z.record(z.string(), z.number());

/** Written before anything is done. */
const intentSchema = z.object({
  type: z.literal('intent'),
  at: z.string(),
  job: jobId,
  action: z.string(),
  user: z.string(),
  request_id: z.string(),
  digest: z.string(),
  parameters: z.unknown(),
  /** The same by hand. */
  command: z.string(),
  /** What the preview said. */
  counts,
});
export type Intent = z.output<typeof intentSchema>;

/** Written when the process has ended. */
const outcomeSchema = z.object({
  type: z.literal('outcome'),
  at: z.string(),
  job: jobId,
  /** `stopped`: the console was asked to end, and asked the command to. */
  state: z.enum(['done', 'failed', 'stopped', 'killed']),
  exit_code: z.int().nullable(),
  signal: z.string().nullable(),
  run_id: z.int().nullable(),
  snapshot_id: z.string().nullable(),
  counts,
  error: z.string().nullable(),
});
export type Outcome = z.output<typeof outcomeSchema>;

const entrySchema = z.discriminatedUnion('type', [intentSchema, outcomeSchema]);
export type AuditEntry = z.output<typeof entrySchema>;

/** Who did what by the console: a line for each intent and each outcome, on the disk before the next step is taken. */
export class AuditLog {
  readonly #file: string;
  #last: Promise<unknown> = Promise.resolve();

  constructor(data: DataDirectory) {
    this.#file = join(data.console, 'actions.ndjson');
  }

  /** What can be read: a line that broke off when its process was killed tells nothing, and hides no other. */
  async read(): Promise<AuditEntry[]> {
    const text = await readFile(this.#file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
      return '';
    });
    return text.split('\n').flatMap((line) => entryOf(line) ?? []);
  }

  /** One after the other, each on the disk when it resolves. */
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
    // What a killed process left of a line must not take the next one along.
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
