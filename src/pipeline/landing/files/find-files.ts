import { statSync, type BigIntStats } from 'node:fs';
import { readdir, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { modifiedNsOf } from '../../../kit/files/file-version.ts';
import { landingKinds, type LandingKind } from '../../../kit/vocabulary/values.ts';
import { isReadableName, isUnfinishedName, readableEndings } from '../../../kit/vocabulary/landing-formats.ts';
import type { LandingFile } from '../landing-file.ts';
import { compareTexts } from '../../../kit/text/compare-texts.ts';

interface LandingScan {
  /** By path, ascending: the order in which the first one of two equal clicks wins. */
  files: LandingFile[];
  /** Paths that look like data but are in no place or format that we read. */
  ignored: { path: string; why: string }[];
}

interface Scan extends LandingScan {
  /** A mapping says where the records of a file are: then it may be XML. */
  isMapped: (path: string) => boolean;
}

const oddName = 'its name holds a backslash, a control character or bytes that are not UTF-8';

/**
 * Lists the landing folder. Names that start with `.` or `_`, or end in `.tmp` or `.part`, are not looked at. The
 * folder may itself be a link. A link in it is followed only to what is in the folder as well: else all who may land
 * files could have any file of the machine read, and its lines published as rejects.
 */
export async function findLandingFiles(
  landing: string,
  isMapped: (path: string) => boolean = () => false,
): Promise<LandingScan> {
  const scan: Scan = { files: [], ignored: [], isMapped };
  const root = await realpath(landing).catch(nothingIfGone);
  if (root === undefined) return { files: [], ignored: [] };
  for (const kind of landingKinds) {
    const folder = await followed(root, kind, scan);
    if (folder !== undefined) await walk(root, kind, folder, kind, scan, []);
  }
  scan.files.sort((a, b) => compareTexts(a.path, b.path));
  return { files: scan.files, ignored: scan.ignored };
}

/**
 * `above`: the folders on the way down, by device and inode, so that a link to one of them does not lead round in
 * circles.
 */
async function walk(
  root: string,
  folder: string,
  absoluteFolder: string,
  kind: LandingKind,
  scan: Scan,
  above: readonly string[],
): Promise<void> {
  const here = identityOf(absoluteFolder);
  if (here === undefined || above.includes(here)) return;
  // Without the folders of ours nothing would come in, and no run would fail.
  const onError = above.length > 0 ? ignoredIfClosed(folder, scan) : nothingIfGone;
  const entries = await readdir(absoluteFolder, { withFileTypes: true }).catch(onError);
  for (const entry of entries ?? []) {
    const { name } = entry;
    if (isUnfinishedName(name)) continue;
    const path = `${folder}/${name}`;
    // By such a name the system finds nothing.
    if (name.includes('\ufffd')) {
      scan.ignored.push({ path, why: oddName });
      continue;
    }
    const absolutePath = entry.isSymbolicLink() ? await followed(root, path, scan) : join(absoluteFolder, name);
    const about = absolutePath && aboutFile(absolutePath, ignoredIfClosed(path, scan));
    if (!about) continue;
    if (about.isDirectory()) {
      await walk(root, path, absolutePath, kind, scan, [...above, here]);
    } else if (about.isFile()) {
      const source = kind === 'offers' ? sourceOf(path) : null;
      if (/[\\\p{Cc}]/u.test(name)) scan.ignored.push({ path, why: oddName });
      // Mappings are searched for the few other names alone.
      else if (!isReadableName(name) && !(isReadableName(name, true) && scan.isMapped(path)))
        scan.ignored.push({ path, why: `its ending is none of ${readableEndings}` });
      else if (source === undefined)
        scan.ignored.push({ path, why: 'a catalog belongs into the folder of its source, landing/offers/<source>/' });
      else {
        scan.files.push({
          kind,
          source,
          path,
          absolutePath,
          bytes: Number(about.size),
          modifiedNs: modifiedNsOf(about),
          changedNs: about.ctimeNs,
        });
      }
    }
  }
}

/**
 * Resolves a path that may be a link; undefined, and listed as ignored, where that is outside of the landing folder.
 */
async function followed(root: string, path: string, scan: LandingScan): Promise<string | undefined> {
  const target = await realpath(join(root, path)).catch(nothingIfGone);
  if (target === undefined || target === root || target.startsWith(root + sep)) return target;
  scan.ignored.push({ path, why: 'it is a link that leads out of the landing folder: copy what it leads to' });
  return undefined;
}

function sourceOf(path: string): string | undefined {
  const parts = path.split('/');
  return parts.length > 2 ? parts[1] : undefined;
}

function identityOf(folder: string): string | undefined {
  const about = aboutFile(folder);
  return about && `${about.dev} ${about.ino}`;
}

/** At once: to wait for each of the files of a year takes longer than all else that a run without news does. */
function aboutFile(path: string, onError: OnError = nothingIfGone): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true });
  } catch (error) {
    return onError(error as NodeJS.ErrnoException);
  }
}

type OnError = (error: NodeJS.ErrnoException) => undefined;

/** Lists a path without permission as ignored, since it must not hold up the rest. */
function ignoredIfClosed(path: string, scan: LandingScan): OnError {
  return (error) => {
    if (error.code !== 'EACCES' && error.code !== 'EPERM') return nothingIfGone(error);
    scan.ignored.push({ path, why: `it may not be read (${error.code}): let the user who runs offerline read it` });
    return undefined;
  };
}

/** A file may be moved in or out while we look; what is gone is simply not there. */
function nothingIfGone(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR' || error.code === 'ELOOP') return undefined;
  throw error;
}
