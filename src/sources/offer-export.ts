import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Effects } from '../kit/files/effects.ts';
import { compactText, type Moment } from '../kit/time/moment.ts';

/** Names of a pull's files: list, time of the pull and digest of the content. */
const exportName = (of: string) =>
  new RegExp(`^${of.replaceAll('.', String.raw`\.`)}-(\\d{8}T\\d{6}Z)-([0-9a-f]{16})\\.ndjson$`);
const linesOfWrite = 1000;

/** True for the name of an export, of any list, that is staged and does not have its name yet. */
export function isStagedExport(name: string): boolean {
  return /-\d{8}T\d{6}Z-[0-9a-f]{16}\.ndjson\.part$/.test(name);
}

/**
 * Writes lines, each with its line end, into a file of a landing folder, unless the last pull wrote the same lines. The
 * file gets its name after it is complete and on the disk. Returns the name; null where nothing was written.
 */
export async function writeExport(
  folder: string,
  lines: readonly Uint8Array[],
  pulledAt: Moment,
  effects: Effects,
): Promise<string | null> {
  const name = await stageExport(folder, lines, pulledAt, effects);
  if (name !== null) await promoteExport(folder, name, effects);
  return name;
}

/** Writes the same file under a name that landing does not read, for `promoteExport`. */
export async function stageExport(
  folder: string,
  lines: readonly Uint8Array[],
  pulledAt: Moment,
  effects: Effects,
  of = 'pull',
): Promise<string | null> {
  const digest = createHash('sha256');
  for (const line of lines) digest.update(line);
  const content = digest.digest('hex').slice(0, 16);
  if ((await lastExport(folder, exportName(of), compactText(pulledAt))) === content) return null;
  await effects.files.makeDirectory(folder);
  const name = `${of}-${compactText(pulledAt)}-${content}.ndjson`;
  const part = partOf(folder, name);
  // It goes on after a write that took only some of the bytes, as on a disk that is nearly full.
  await effects.perform('export: written', () => writeFile(part, joinedLines(lines)));
  await effects.files.syncFile(part, 'export: fsynced');
  return name;
}

/** Gives a staged export its name. One that has it stays as it is. */
export async function promoteExport(folder: string, name: string, { files }: Effects): Promise<void> {
  const part = partOf(folder, name);
  if (!existsSync(part)) return;
  await files.rename(part, join(folder, name), 'export: renamed');
  await files.syncDirectory(folder, 'export: folder synced');
}

function partOf(folder: string, name: string): string {
  return join(folder, `${name}.part`);
}

/** Joins some at a time: a call of the system for each line takes seconds. */
function* joinedLines(lines: readonly Uint8Array[]): Iterable<Uint8Array> {
  for (let from = 0; from < lines.length; from += linesOfWrite)
    yield Buffer.concat(lines.slice(from, from + linesOfWrite));
}

/**
 * Returns the digest in the name of the newest file. A time after `until`, the pull's own, is of a clock that was
 * ahead: other files may have been written since.
 */
async function lastExport(folder: string, named: RegExp, until: string): Promise<string | undefined> {
  let names: string[];
  try {
    names = await readdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  const newest = names
    .toSorted()
    .map((name) => named.exec(name))
    .findLast((name) => name !== null && (name[1] as string) <= until);
  return newest?.[2];
}
