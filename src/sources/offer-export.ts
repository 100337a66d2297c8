import { createHash } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { join, sep } from 'node:path';
import type { Effects } from '../kit/files/effects.ts';
import { isReadableName, isUnfinishedName } from '../kit/vocabulary/landing-formats.ts';
import { compactText, type Moment } from '../kit/time/moment.ts';

/** Names of a pull's files: list, time of the pull and digest of the content. */
const exportName = (of: string) =>
  new RegExp(`^${of.replaceAll('.', String.raw`\.`)}-\\d{8}T\\d{6}Z-([0-9a-f]{16})\\.ndjson$`);
/** A source's offers, in a folder where the newest file decides. */
const offersList = 'pull';
const linesOfWrite = 1000;

/** True for the name of an export, of any list, that is staged and does not have its name yet. */
export function isStagedExport(name: string): boolean {
  return /-\d{8}T\d{6}Z-[0-9a-f]{16}\.ndjson\.part$/.test(name);
}

/**
 * Writes a source's offers, lines with their line ends, into a file of its landing folder, unless the last pull wrote
 * the same lines and no newer file decides. The file gets its name after it is complete and on the disk. Returns the
 * name; null where nothing was written.
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

/**
 * Writes the same file under a name that landing does not read, for `promoteExport`. `of`: the source of a log, in
 * whose folder no file decides for others.
 */
export async function stageExport(
  folder: string,
  lines: readonly Uint8Array[],
  pulledAt: Moment,
  effects: Effects,
  of?: string,
): Promise<string | null> {
  const digest = createHash('sha256');
  for (const line of lines) digest.update(line);
  const content = digest.digest('hex').slice(0, 16);
  const list = of ?? offersList;
  const last = await lastExport(folder, list);
  if (last?.content === content && (of !== undefined || !(await isSuperseded(folder, last.name)))) return null;
  await effects.files.makeDirectory(folder);
  const name = `${list}-${compactText(pulledAt)}-${content}.ndjson`;
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

/** Returns the last export of a list, with the digest in its name. */
async function lastExport(folder: string, of: string): Promise<{ name: string; content: string } | undefined> {
  const named = exportName(of);
  const name = (await readdir(folder).catch(noneIfGone))
    .filter((each) => named.test(each))
    .toSorted()
    .at(-1);
  const content = name === undefined ? undefined : named.exec(name)?.[1];
  return name === undefined || content === undefined ? undefined : { name, content };
}

/** True where landing takes a file that no pull wrote for newer than this export: then that file decides. */
async function isSuperseded(folder: string, name: string): Promise<boolean> {
  const own = exportName(offersList);
  const paths = await readdir(folder, { recursive: true });
  const ofOthers = paths.filter(
    (path) => !own.test(path) && isReadableName(path, true) && !path.split(sep).some(isUnfinishedName),
  );
  const written = lastChangeOf(join(folder, name));
  return ofOthers.some((path) => lastChangeOf(join(folder, path)) > written);
}

/** Milliseconds since the epoch. A modification time may be set to a moment that is yet to come. */
function lastChangeOf(file: string): number {
  const about = statSync(file, { throwIfNoEntry: false });
  return about === undefined ? 0 : Math.min(about.mtimeMs, about.ctimeMs);
}

function noneIfGone(error: NodeJS.ErrnoException): string[] {
  if (error.code === 'ENOENT') return [];
  throw error;
}
