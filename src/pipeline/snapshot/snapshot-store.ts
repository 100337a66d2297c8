import { readdir, readFile, readlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { OfferlineError } from '../../kit/errors/errors.ts';
import { NewerDataError } from '../../kit/errors/newer-data.ts';
import type { FileEffects } from '../../kit/files/effects.ts';
import { isUnfinishedName } from '../../kit/vocabulary/landing-formats.ts';
import { manifestFile, parseManifest, type Manifest } from './manifest.ts';

/**
 * Returns the names of all snapshot folders, half-built and damaged ones too, the oldest first: names sort by
 * publication. Leaves out folders with names of unfinished ones (`.x`, `_x`, `x.tmp`, `x.part`).
 */
export async function snapshotNames(data: DataDirectory): Promise<string[]> {
  const entries = await readdir(data.published, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isDirectory() && !isUnfinishedName(entry.name))
    .map(({ name }) => name)
    .toSorted();
}

const retiredEnding = '.retired';

/** Returns the name of a snapshot's folder while its files are removed. */
export function retiredName(name: string): string {
  return `.${name}${retiredEnding}`;
}

/** Returns the folders whose removal a run began and did not finish. */
export function retiredNames(data: DataDirectory): Promise<string[]> {
  return hiddenNames(data, retiredEnding);
}

const partialEnding = '.part';

/** Returns the name of a snapshot's folder while its files are fetched. */
export function partialName(name: string): string {
  return `.${name}${partialEnding}`;
}

/** Returns the folders that a process fetched when it ended. */
export function partialNames(data: DataDirectory): Promise<string[]> {
  return hiddenNames(data, partialEnding);
}

async function hiddenNames(data: DataDirectory, ending: string): Promise<string[]> {
  const names = await readdir(data.published);
  return names.filter((name) => name.startsWith('.') && name.endsWith(ending));
}

/**
 * Returns the name of the snapshot that `published/current` links to, which may be missing; undefined without such a
 * link. Throws where the link cannot be read.
 */
export async function currentName(data: DataDirectory): Promise<string | undefined> {
  try {
    return basename(await readlink(data.current));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    if (code === 'EINVAL')
      throw new OfferlineError(
        `${data.current} is no link: move it away, and \`offerline doctor --repair\` makes the link again`,
        undefined,
        { cause: error },
      );
    throw error;
  }
}

/** Returns a snapshot's manifest. Throws the disk's error, or the parser's where the text is not as written. */
export async function manifestOf(data: DataDirectory, name: string): Promise<Readonly<Manifest>> {
  const text = await readFile(join(data.published, name, manifestFile), 'utf8');
  if (parsed?.text !== text) parsed = { text, manifest: parseManifest(text) };
  return parsed.manifest;
}

/** The manifest that was read last: a run reads the current one four times, and it lists every file of history. */
let parsed: { text: string; manifest: Manifest } | undefined;

/**
 * Returns the current snapshot's manifest; undefined where nothing is published or it cannot be read. Throws
 * `NewerDataError` for that of a newer version.
 */
export async function currentManifest(data: DataDirectory): Promise<Readonly<Manifest> | undefined> {
  try {
    const name = await currentName(data);
    return name === undefined ? undefined : await manifestOf(data, name);
  } catch (error) {
    if (error instanceof NewerDataError) throw error;
    return undefined;
  }
}

/**
 * Links `published/current` to another snapshot, in a single step: a new link is renamed over the old one. Throws
 * `OfferlineError` where a folder has its name, as in a copy that followed links.
 */
export async function switchCurrent(data: DataDirectory, name: string, files: FileEffects): Promise<void> {
  const next = `${data.current}.next`;
  await files.remove(next, 'current link: leftover removed');
  await files.symbolicLink(name, next, 'current link: made');
  await files.rename(next, data.current, 'current link: switched').catch(async (error: unknown) => {
    // Names the folder and the cure, where the system's error is a bare EISDIR.
    await currentName(data);
    throw error;
  });
  await files.syncDirectory(data.published, 'current link: synced');
}
