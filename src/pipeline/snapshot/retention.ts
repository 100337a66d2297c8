import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Run } from '../runs/stage.ts';
import { currentName, retiredName, retiredNames, snapshotNames } from './snapshot-store.ts';
import { snapshotsWithReaders } from './open-readers.ts';
import { manifestFile } from './manifest.ts';

/**
 * Removes snapshots beyond `snapshots_kept` and half-built folders of killed runs. Keeps the current one, and those
 * that a reader has open: an analyst's queries go on giving the same answers.
 */
export async function retireSnapshots(run: Run): Promise<string[]> {
  const current = await currentName(run.data);
  const whole: string[] = [];
  const retired: string[] = [];
  for (const folder of await snapshotNames(run.data)) {
    if (await exists(join(run.data.published, folder, manifestFile))) whole.push(folder);
    else if (folder !== current) retired.push(folder);
  }
  const held = await snapshotsWithReaders(run.data);
  for (const folder of whole.slice(0, -run.settings.snapshots_kept))
    if (folder !== current && !held.has(folder)) retired.push(folder);
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

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}
