import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { readTextFile } from '../../kit/config/regular-file.ts';
import { UsageError } from '../../kit/errors/errors.ts';
import { makePrivateFolder, realEffects, replaceFile, type Effects } from '../../kit/files/effects.ts';

const keyBytes = 32;

const keyFile = z.strictObject({
  /** Hex, the newest first: that one makes ids, and those that the others made go on being known. */
  keys: z.array(z.string().regex(/^[0-9a-f]{64}$/, 'is not 64 hex digits in lower case')).min(1),
});

/**
 * The keys of click ids, the newest first. Made where there are none. Throws `UsageError` where the file cannot be
 * used: to make new keys in its place would turn every open click into somebody else's.
 */
export async function openClickKeys(
  data: DataDirectory,
  { files }: Pick<Effects, 'files'> = realEffects,
): Promise<Buffer[]> {
  makePrivateFolder(data.tracker);
  const path = data.clickKeysFile;
  let text: string;
  try {
    text = readTextFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
      throw new UsageError(`${path} cannot be read: ${(error as Error).message}`, { cause: error });
    const key = randomBytes(keyBytes);
    await replaceFile(path, `${JSON.stringify({ keys: [key.toString('hex')] })}\n`, 'click keys', files, 0o600);
    return [key];
  }
  return parseKeys(text, path);
}

function parseKeys(text: string, path: string): Buffer[] {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    // The parser quotes what it stumbled over, which may be a part of a key.
    throw new UsageError(`${path} is not valid JSON: restore it from a copy, or move it away for new keys`);
  }
  const parsed = keyFile.safeParse(json);
  if (!parsed.success) throw new UsageError(`${path} cannot be used:\n${z.prettifyError(parsed.error)}`);
  return parsed.data.keys.map((key) => Buffer.from(key, 'hex'));
}
