import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { readDocument } from '../../kit/config/json-document.ts';
import { readTextFile } from '../../kit/config/regular-file.ts';
import { UsageError } from '../../kit/errors/errors.ts';
import {
  makePrivateFolder,
  realEffects,
  replaceFile,
  type Effects,
  type FileEffects,
} from '../../kit/files/effects.ts';

const keyBytes = 32;

const keyFile = z.strictObject({
  /** Hex, the newest first: that one makes ids, and those that the others made go on being known. */
  keys: z.array(z.string().regex(/^[0-9a-f]{64}$/, 'is not 64 hex digits in lower case')).min(1),
});

/**
 * Returns the keys of click ids, the newest first; makes one where there are none. Throws `UsageError` where the file
 * cannot be used: to make new keys in its place would turn every open click into somebody else's.
 */
export async function openClickKeys(
  data: DataDirectory,
  { files }: Pick<Effects, 'files'> = realEffects,
): Promise<Buffer[]> {
  return readKeys(data) ?? (await makeClickKeys(data, files));
}

/**
 * Makes the first key where there is none, and returns the keys that are there then. Tracker and publish may both
 * begin with an empty folder: a file that is there is never replaced.
 */
export async function makeClickKeys(data: DataDirectory, files: FileEffects): Promise<Buffer[]> {
  makePrivateFolder(data.tracker);
  const path = data.clickKeysFile;
  const draft = `${path}.${process.pid}.tmp`;
  await files.writeFile(draft, keysText([randomBytes(keyBytes)]), 'click keys: written', 0o600);
  try {
    await files.hardLink(draft, path, 'click keys: linked');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  await files.remove(draft, 'click keys: draft removed');
  await files.syncDirectory(data.tracker, 'click keys: folder synced');
  return readKeys(data) as Buffer[];
}

/**
 * Takes the keys of another machine's tracker; those that are here alone stay known. The newest and the oldest are the
 * other machine's, so that ids and users' hashes go on as there. Throws `UsageError` where either cannot be used.
 */
export async function takeClickKeys(
  data: DataDirectory,
  text: string,
  from: string,
  files: FileEffects,
): Promise<void> {
  makePrivateFolder(data.tracker);
  const brought = parseKeys(text, from);
  const here = readKeys(data) ?? [];
  const own = here.filter((key) => !brought.some((other) => other.equals(key)));
  const keys = own.length === 0 ? brought : [...brought, ...own, ...brought.slice(-1)];
  if (keys.length === here.length && keys.every((key, index) => here[index]?.equals(key))) return;
  await replaceFile(data.clickKeysFile, keysText(keys), 'click keys', files, 0o600);
}

function keysText(keys: readonly Buffer[]): string {
  return `${JSON.stringify({ keys: keys.map((key) => key.toString('hex')) })}\n`;
}

/** Undefined where there is no file. */
function readKeys({ clickKeysFile: path }: DataDirectory): Buffer[] | undefined {
  try {
    return parseKeys(readTextFile(path), path);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new UsageError(`${path} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

function parseKeys(text: string, path: string): Buffer[] {
  return readDocument(keyFile, text, path, '; restore it from a copy, or move it away for new keys').keys.map((key) =>
    Buffer.from(key, 'hex'),
  );
}
