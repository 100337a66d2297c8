import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import type { Run } from '../runs/stage.ts';
import { currentName, retiredName, retiredNames, snapshotNames } from './snapshot-store.ts';
import { snapshotsWithReaders } from './open-readers.ts';
import { manifestFile } from './manifest.ts';

/**
 * Returns the names of the newest `snapshots_kept` whole snapshots, of `current`, and of those that a reader has open:
 * an analyst's queries go on giving the same answers.
 */
export async function snapshotsToKeep({ data, settings }: Run, current: string): Promise<ReadonlySet<string>> {
  const whole = await wholeSnapshots(data);
  const held = await snapshotsWithReaders(data);
  const newest = new Set(whole.slice(-settings.snapshots_kept));
  return new Set(whole.filter((name) => newest.has(name) || name === current || held.has(name)));
}

/** Removes all snapshots but the `kept` ones, and half-built folders of killed runs. */
export async function retireSnapshots(run: Run, kept: ReadonlySet<string>): Promise<string[]> {
  const current = await currentName(run.data);
  // One that a reader has opened meanwhile stays.
  const held = await snapshotsWithReaders(run.data);
  const retired = (await snapshotNames(run.data)).filter(
    (name) => name !== current && !kept.has(name) && !held.has(name),
  );
  const { files } = run.effects;
  for (const name of await retiredNames(run.data))
    await files.remove(join(run.data.published, name), 'old snapshot: leftover removed');
  for (const folder of retired) {
    // Files are removed one by one: under its own name the folder would be a damaged snapshot meanwhile.
    const retiring = join(run.data.published, retiredName(folder));
    await files.rename(join(run.data.published, folder), retiring, 'old snapshot: renamed');
    await files.remove(retiring, 'old snapshot: removed');
    run.logger.info({ snapshot: folder }, 'snapshot retired');
  }
  return retired;
}

/** Returns the names of snapshots that have a manifest, which is written last, the oldest first. */
async function wholeSnapshots(data: DataDirectory): Promise<string[]> {
  const names = await snapshotNames(data);
  return names.filter((name) => existsSync(join(data.published, name, manifestFile)));
}
