import type { Effects } from '../src/kit/files/effects.ts';
import { sweepUnnamedFiles } from '../src/pipeline/ingest/ledger/sweep.ts';
import { compactStage } from '../src/pipeline/maintenance/compact-stage.ts';
import { retainStage } from '../src/pipeline/maintenance/retain-stage.ts';
import { retireStage } from '../src/pipeline/maintenance/retire-stage.ts';
import { runPipeline, type RunRequest } from './run-pipeline.ts';

/** A refresh of the same minute may take longer than runs usually wait, and the next night is no other. */
const nightlyWaitSeconds = 1800;

/**
 * Sweeps unnamed files, removes snapshots beyond those that are kept, compacts closed days, and deletes what is older
 * than configured. Changes no figure and publishes nothing; the next snapshot has the compacted files. Bounded: the
 * next run does the rest.
 */
export function maintenance(request: RunRequest, effects?: Effects) {
  const waitSeconds = request.scheduledAt === undefined ? undefined : nightlyWaitSeconds;
  return runPipeline(
    'maintenance',
    { ...request, waitSeconds, allowOlder: true },
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
