import { join } from 'node:path';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { UsageError } from '../../kit/errors/errors.ts';
import { compareMoments, looseMoment, type Moment } from '../../kit/time/moment.ts';
import { currentName, manifestOf, snapshotNames } from '../snapshot/snapshot-store.ts';
import { manifestFile, type Manifest } from '../snapshot/manifest.ts';

/** A published snapshot that is still on disk. */
export interface KeptSnapshot {
  folder: string;
  manifest: Manifest;
  /** `published/current` links to it. */
  current: boolean;
}

/** A folder under `published` whose manifest this version cannot read. */
interface UnreadableSnapshot {
  folder: string;
  reason: string;
}

/** Returns all kept snapshots, the newest first. */
export async function keptSnapshots(
  data: DataDirectory,
): Promise<{ kept: KeptSnapshot[]; unreadable: UnreadableSnapshot[] }> {
  const current = await currentName(data);
  const kept: KeptSnapshot[] = [];
  const unreadable: UnreadableSnapshot[] = [];
  for (const name of (await snapshotNames(data)).toReversed()) {
    const folder = join(data.published, name);
    const read = await readManifest(data, name);
    if (typeof read === 'string') unreadable.push({ folder, reason: read });
    else kept.push({ folder, manifest: read, current: name === current });
  }
  return { kept, unreadable };
}

/**
 * Returns the snapshot of an id, or of the only id that begins with it; of a moment the newest with an as-of up to it;
 * by default the current one. Throws `UsageError` with the kept ones where there is none.
 */
export async function findSnapshot(data: DataDirectory, id?: string): Promise<KeptSnapshot> {
  const moment = id === undefined ? undefined : looseMoment(id);
  if (moment !== undefined) return snapshotAt(data, moment);
  const current = await currentName(data);
  if (id === undefined && current === undefined) {
    throw new UsageError(
      `nothing is published in ${data.published} yet; \`offerline run refresh\` publishes a first snapshot`,
    );
  }
  const names = await snapshotNames(data);
  const wanted = id === undefined || id === 'current' ? (current ?? 'current') : id;
  const named = names.includes(wanted) ? [wanted] : names.filter((name) => name.startsWith(wanted));
  const [name] = named;
  if (name === undefined || named.length > 1) {
    throw new UsageError(
      `${named.length > 1 ? 'several snapshots begin with' : 'there is no snapshot'} "${wanted}"; kept are ${names.join(', ') || 'none'}`,
    );
  }
  const folder = join(data.published, name);
  const manifest = await readManifest(data, name);
  if (typeof manifest === 'string') throw new UsageError(`snapshot ${folder} cannot be used: ${manifest}`);
  return { folder, manifest, current: name === current };
}

async function snapshotAt(data: DataDirectory, moment: Moment): Promise<KeptSnapshot> {
  const { kept } = await keptSnapshots(data);
  // A run may publish the past after a later as-of. Of several as of one moment the last published comes first.
  const byAsOf = kept.toSorted((one, other) => compareMoments(other.manifest.as_of, one.manifest.as_of));
  const found = byAsOf.find(({ manifest }) => compareMoments(manifest.as_of, moment) <= 0);
  if (found !== undefined) return found;
  const oldest = byAsOf.at(-1)?.manifest.as_of;
  throw new UsageError(
    `no snapshot as of ${moment} or before is kept; ${oldest === undefined ? 'none is' : `the oldest is as of ${oldest}`}`,
  );
}

/** Returns the manifest, or the reason why it cannot be used. */
async function readManifest(data: DataDirectory, name: string): Promise<Manifest | string> {
  try {
    return await manifestOf(data, name);
  } catch (error) {
    return `${manifestFile}: ${(error as Error).message}`;
  }
}
