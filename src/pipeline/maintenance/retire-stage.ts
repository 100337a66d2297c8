import type { Run, Stage } from '../runs/stage.ts';
import { writeLake } from '../snapshot/lake/write-lake.ts';
import { retireSnapshots, snapshotsToKeep } from '../snapshot/retention.ts';
import { currentName, snapshotNames } from '../snapshot/snapshot-store.ts';

interface RetireSummary {
  /** Names of the removed snapshots. */
  retired: string[];
}

/**
 * Removes the snapshots that settings no longer keep. A publish does so, too, but needs room for the next one first,
 * and there is none without news.
 */
export const retireStage: Stage<undefined, RetireSummary> = {
  name: 'retire',
  async run(run: Run) {
    const current = await currentName(run.data);
    if (current === undefined) return { retired: [] };
    const kept = await snapshotsToKeep(run, current);
    const names = await snapshotNames(run.data);
    if (names.every((name) => kept.has(name))) return { retired: [] };
    await writeLake(run.data, kept, run.effects);
    return { retired: await retireSnapshots(run, kept) };
  },
};
