import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import type { Run } from '../runs/stage.ts';
import { currentName, retiredName, retiredNames, snapshotNames } from './snapshot-store.ts';
import { snapshotsWithReaders } from './open-readers.ts';
import { asOfOfSnapshot } from './layout.ts';
import { manifestFile } from './manifest.ts';

const hourMilliseconds = 3_600_000;

/**
 * Returns the names of the newest `snapshots_kept` whole snapshots, of the newest of each hour of the last
 * `snapshots_kept_hours` before `current`, of `current`, and of those that a reader has open: an analyst's queries go
 * on giving the same answers.
 */
export async function snapshotsToKeep({ data, settings }: Run, current: string): Promise<ReadonlySet<string>> {
  const whole = await wholeSnapshots(data);
  const held = await snapshotsWithReaders(data);
  const { snapshots_kept: count, snapshots_kept_hours: hours } = settings;
  const newest = new Set([...whole.slice(-count), ...newestOfHours(whole, current, hours)]);
  return new Set(whole.filter((name) => newest.has(name) || name === current || held.has(name)));
}

/** Returns the last name of each UTC hour of as-of, from so many hours before that of `current` on. */
function newestOfHours(names: readonly string[], current: string, hours: number): Iterable<string> {
  const until = asOfOfSnapshot(current);
  const byHour = new Map<number, string>();
  for (const name of names) {
    const asOf = asOfOfSnapshot(name);
    if (asOf > until - hours * hourMilliseconds && asOf <= until) byHour.set(Math.floor(asOf / hourMilliseconds), name);
  }
  return byHour.values();
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

/** Removes half-built folders of killed runs alone: until then the doctor takes them for damaged snapshots. */
export async function removeHalfBuilt(run: Run): Promise<void> {
  const whole = await wholeSnapshots(run.data);
  if (whole.length < (await snapshotNames(run.data)).length) await retireSnapshots(run, new Set(whole));
}

/** Returns the names of snapshots that have a manifest, which is written last, the oldest first. */
async function wholeSnapshots(data: DataDirectory): Promise<string[]> {
  const names = await snapshotNames(data);
  return names.filter((name) => existsSync(join(data.published, name, manifestFile)));
}
