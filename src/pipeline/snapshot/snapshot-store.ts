import { readdir, readFile, readlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { OfferlineError } from '../../kit/errors/errors.ts';
import type { FileEffects } from '../../kit/files/effects.ts';
import { isUnfinishedName } from '../../kit/vocabulary/landing-formats.ts';
import { manifestFile, parseManifest, type Manifest } from './manifest.ts';

/**
 * Names of the snapshots' folders, the oldest first: they sort by publication. Half-built and damaged ones are among
 * them; none where nothing was published. Folders that are named as unfinished ones are (`.x`, `_x`, `x.tmp`, `x.part`)
 * are not ours.
 */
export async function snapshotNames(data: DataDirectory): Promise<string[]> {
  const entries = await readdir(data.published, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isDirectory() && !isUnfinishedName(entry.name))
    .map(({ name }) => name)
    .toSorted();
}

const leavingEnding = '.retired';

/** What the folder of a snapshot is called while its files are removed: no snapshot any more. */
export function leavingName(name: string): string {
  return `.${name}${leavingEnding}`;
}

/** Folders that a run had begun to remove when it ended. */
export function leavingNames(data: DataDirectory): Promise<string[]> {
  return hiddenNames(data, leavingEnding);
}

const comingEnding = '.part';

/** What the folder of a snapshot is called while its files are fetched. */
export function comingName(name: string): string {
  return `.${name}${comingEnding}`;
}

/** Folders that were being fetched when the process ended. */
export function comingNames(data: DataDirectory): Promise<string[]> {
  return hiddenNames(data, comingEnding);
}

async function hiddenNames(data: DataDirectory, ending: string): Promise<string[]> {
  const names = await readdir(data.published);
  return names.filter((name) => name.startsWith('.') && name.endsWith(ending));
}

/**
 * The name of the snapshot that `published/current` names, whether or not it is there; undefined where there is no such
 * link. Throws where it cannot be read.
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

/**
 * The manifest of a snapshot by its name. Throws the disk's error, or the parser's where the text is not as it was
 * written.
 */
export async function manifestOf(data: DataDirectory, name: string): Promise<Readonly<Manifest>> {
  const text = await readFile(join(data.published, name, manifestFile), 'utf8');
  if (parsed?.text !== text) parsed = { text, manifest: parseManifest(text) };
  return parsed.manifest;
}

/** What was read last: a run asks for the current one at four places, and it names every file of history. */
let parsed: { text: string; manifest: Manifest } | undefined;

/**
 * The manifest of the snapshot that `published/current` names; undefined while nothing was published or it cannot be
 * read.
 */
export async function currentManifest(data: DataDirectory): Promise<Readonly<Manifest> | undefined> {
  try {
    const name = await currentName(data);
    return name === undefined ? undefined : await manifestOf(data, name);
  } catch {
    return undefined;
  }
}

/**
 * Has `published/current` name another snapshot. A link cannot be changed in place: a new one takes the old one's name
 * in a single step.
 */
export async function switchCurrent(data: DataDirectory, name: string, files: FileEffects): Promise<void> {
  const next = `${data.current}.next`;
  await files.remove(next, 'current link: leftover removed');
  await files.symbolicLink(name, next, 'current link: made');
  await files.rename(next, data.current, 'current link: switched');
  await files.syncDirectory(data.published, 'current link: synced');
}
