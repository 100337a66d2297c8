import { setTimeout } from 'node:timers/promises';
import { realEffects, type Effects } from '../src/kit/files/effects.ts';
import { assertNotStopped, UsageError } from '../src/kit/errors/errors.ts';
import { modelsStage } from '../src/pipeline/models/models-stage.ts';
import { currentMarts, martsAsOf } from '../src/pipeline/warehouse/dirty-partitions.ts';
import {
  reportsToBackfill,
  stageReportsStage,
  promoteReportsStage,
  type BackfillScope,
  type ReportChange,
} from '../src/pipeline/models/report-backfill.ts';
import type { ReportDay } from '../src/pipeline/models/report-days.ts';
import type { StateDatabase } from '../src/pipeline/warehouse/database.ts';
import { publishStage } from '../src/pipeline/snapshot/publish-stage.ts';
import { aheadOfClock, futureTimestampsAdvice } from '../src/kit/time/ahead-of-clock.ts';
import { runPipeline, type RunRequest } from './run-pipeline.ts';
import { withWarehouse } from './with-warehouse.ts';

export interface BackfillRequest extends RunRequest {
  scope: BackfillScope;
}

export interface BackfillSummary {
  reports: ReportChange[];
  /** Null where there was nothing to do. */
  snapshotId: string | null;
}

/** Reports of one batch: seconds of work, after which a waiting refresh gets the warehouse. */
const maxReportsPerBatch = 20;
/** Longer than the interval at which a waiting process looks whether the warehouse is free. */
const pauseMilliseconds = 300;

/**
 * Returns the reports that a backfill would compute, and why. Throws `UsageError` where the figures are ahead of the
 * clock: days that are not over would count as over.
 */
export function planBackfill(
  { data, terminal, scope }: BackfillRequest,
  effects: Effects = realEffects,
): Promise<ReportDay[]> {
  const work = async (state: StateDatabase) => {
    const asOf = await martsAsOf(state.connection);
    if (asOf !== undefined && aheadOfClock(asOf, effects.now()) > 0)
      throw new UsageError(
        `the figures are as of ${asOf}, which is ahead of this machine's clock: ${futureTimestampsAdvice}`,
      );
    return reportsToBackfill(state, scope);
  };
  return withWarehouse({ command: 'backfill reports --dry-run', data, terminal, effects, isPreview: true }, work);
}

/**
 * Recomputes `report_daily` in batches, each a run of its own, so that scheduled runs get the warehouse in between. The
 * last batch puts all reports into force and publishes. An interrupted backfill continues where it stopped, and reports
 * that new data changes meanwhile are computed again. Other marts keep their as-of while they are current; else the
 * last batch computes them again. Throws `WarehouseBusyError` where the warehouse stays locked.
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

/** Runs one batch. Returns the summary after the last one. */
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
      // Publishing refuses marts that lack what was ingested.
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
