import { setTimeout } from 'node:timers/promises';
import { realEffects, type Effects } from '../src/kit/files/effects.ts';
import { assertNotStopped, UsageError } from '../src/kit/errors/errors.ts';
import { modelsStage } from '../src/pipeline/models/models-stage.ts';
import { currentMarts, martsAsOf } from '../src/pipeline/warehouse/stale-partitions.ts';
import {
  reportsToBackfill,
  stageReportsStage,
  promoteReportsStage,
  type BackfillScope,
  type ReportChange,
} from '../src/pipeline/models/report-backfill.ts';
import type { ReportDay } from '../src/pipeline/models/report-days.ts';
import { publishStage } from '../src/pipeline/snapshot/publish-stage.ts';
import { aheadOfClock, leadBackAdvice } from '../src/kit/time/ahead-of-clock.ts';
import { runPipeline, withWarehouse, type RunRequest } from './run-pipeline.ts';

export interface BackfillRequest extends RunRequest {
  scope: BackfillScope;
}

export interface BackfillSummary {
  reports: ReportChange[];
  /** Null where there was nothing to do. */
  snapshotId: string | null;
}

/**
 * Reports computed before others may have the warehouse: seconds of work, so that a refresh beside is hardly late.
 */
const maxReportsPerBatch = 20;
/** Longer than another process takes to look whether the warehouse is free. */
const pauseMilliseconds = 300;

/**
 * What a backfill would do, and why. Throws `UsageError` where the figures are those of the future: days would count as
 * over that are not.
 */
export function planBackfill(
  { data, terminal, scope }: BackfillRequest,
  effects: Effects = realEffects,
): Promise<ReportDay[]> {
  return withWarehouse('backfill reports --dry-run', data, terminal, async (state) => {
    const asOf = await martsAsOf(state.connection);
    if (asOf !== undefined && aheadOfClock(asOf, effects.now()) > 0)
      throw new UsageError(
        `the figures are as of ${asOf}, which lies ahead of this machine's clock: ${leadBackAdvice}`,
      );
    return reportsToBackfill(state, scope);
  });
}

/**
 * Computes `report_daily` again in batches, each a run of its own that lets go of the warehouse, so that scheduled runs
 * go on beside it; the last batch puts all of them into force and publishes. Interrupted at any moment it goes on where
 * it was, and reports that new data changes meanwhile are computed once more. The figures of the open day stay as of
 * their as-of. Throws `WarehouseBusyError` when the warehouse stays taken.
 */
export async function backfillReports(
  request: BackfillRequest,
  effects: Effects = realEffects,
): Promise<BackfillSummary> {
  const planned = (await planBackfill(request, effects)).filter(({ staged }) => !staged).length;
  const { progress } = request.terminal;
  let done = 0;
  progress.start('reports', planned);
  try {
    for (;;) {
      const summary = await batch(request, effects, () => progress.advance(Math.min(++done, planned)));
      if (summary !== undefined) return summary;
      await setTimeout(pauseMilliseconds);
      assertNotStopped(request.stop, 'the backfill was asked to end; run the same again and it goes on where it was');
    }
  } finally {
    progress.finish();
  }
}

/** One batch; the summary where it was the last. */
async function batch(
  { scope, ...request }: BackfillRequest,
  effects: Effects,
  onDay: () => void,
): Promise<BackfillSummary | undefined> {
  const { summary } = await runPipeline(
    'backfill',
    { ...request, allowOlder: true },
    async ({ state, sites, stage }) => {
      const { left } = await stage(
        stageReportsStage,
        { state, scope, max: maxReportsPerBatch, onDay },
        ({ reports }) => ({
          rowsOut: reports,
        }),
      );
      if (left > 0) return { summary: undefined, snapshotId: null };
      const { reports } = await stage(promoteReportsStage, { state, scope }, (taken) => ({
        rowsOut: taken.reports.length,
      }));
      if (reports.length === 0) return { summary: { reports, snapshotId: null }, snapshotId: null };
      // News that was ingested alone, without figures, would stop the publish.
      if ((await currentMarts(state)) === undefined)
        await stage(modelsStage, state, ({ offers }) => ({ rowsOut: offers }));
      const { snapshotId } = await stage(publishStage, { state, sites }, ({ rows, bytes }) => ({
        rowsOut: rows,
        bytes,
      }));
      return { summary: { reports, snapshotId }, snapshotId };
    },
    effects,
  );
  return summary;
}
