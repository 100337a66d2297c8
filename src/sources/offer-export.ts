import { createHash } from 'node:crypto';
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Effects } from '../kit/files/effects.ts';
import { compactText, type Moment } from '../kit/time/moment.ts';

/** Names of a pull's files: list, time of the pull and digest of the content. */
const exportName = (of: string) =>
  new RegExp(`^${of.replaceAll('.', String.raw`\.`)}-\\d{8}T\\d{6}Z-([0-9a-f]{16})\\.ndjson$`);
/** The system's limit on buffers of one write. */
const maxLinesOfWrite = 1000;

/**
 * Writes lines, each with its line end, into a file of a landing folder, unless the last pull wrote the same lines. The
 * file gets its name after it is complete and on the disk. Returns the name; null where nothing was written.
 */
export async function writeExport(
  folder: string,
  lines: readonly Uint8Array[],
  pulledAt: Moment,
  effects: Effects,
  of = 'pull',
): Promise<string | null> {
  const digest = createHash('sha256');
  for (const line of lines) digest.update(line);
  const content = digest.digest('hex').slice(0, 16);
  if ((await lastExport(folder, exportName(of))) === content) return null;
  await effects.files.makeDirectory(folder);
  const name = `${of}-${compactText(pulledAt)}-${content}.ndjson`;
  const part = join(folder, `${name}.part`);
  await effects.perform('export: written', async () => {
    const file = await open(part, 'w');
    try {
      for (let from = 0; from < lines.length; from += maxLinesOfWrite)
        await file.writev(lines.slice(from, from + maxLinesOfWrite));
    } finally {
      await file.close();
    }
  });
  await effects.files.syncFile(part, 'export: fsynced');
  await effects.files.rename(part, join(folder, name), 'export: renamed');
  await effects.files.syncDirectory(folder, 'export: folder synced');
  return name;
}

/** Returns the digest in the name of the newest file. */
async function lastExport(folder: string, named: RegExp): Promise<string | undefined> {
  let names: string[];
  try {
    names = await readdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  const newest = names
    .filter((name) => named.test(name))
    .toSorted()
    .at(-1);
  return newest === undefined ? undefined : named.exec(newest)?.[1];
}
