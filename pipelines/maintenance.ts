import type { Effects } from '../src/kit/files/effects.ts';
import { sweepUnnamedFiles } from '../src/pipeline/ingest/ledger/sweep.ts';
import { compactStage } from '../src/pipeline/maintenance/compact-stage.ts';
import { retainStage } from '../src/pipeline/maintenance/retain-stage.ts';
import { retireStage } from '../src/pipeline/maintenance/retire-stage.ts';
import { runPipeline, type RunRequest } from './run-pipeline.ts';

/**
 * Sweeps unnamed files, removes snapshots beyond those that are kept, compacts closed days, and deletes what is older
 * than configured. Changes no figure and publishes nothing; the next snapshot has the compacted files. Bounded: the
 * next run does the rest.
 */
export function maintenance(request: RunRequest, effects?: Effects) {
  return runPipeline(
    'maintenance',
    { ...request, allowOlder: true },
    async ({ run, state, stage }) => {
      await sweepUnnamedFiles(run, state);
      // First, since all else needs room.
      const { retired } = await stage(retireStage, undefined);
      const compacted = await stage(compactStage, state, ({ rows, bytesAfter }) => ({
        rowsIn: rows,
        rowsOut: rows,
        bytes: bytesAfter,
      }));
      const retained = await stage(retainStage, state, ({ runs }) => ({ rowsOut: runs }));
      return { retired, compacted, retained };
    },
    effects,
  );
}
