import type { DataDirectory } from '../src/kit/config/data-directory.ts';
import { adoptPulls } from './adopt-pulls.ts';
import { readSettings } from '../src/kit/config/settings.ts';
import { realEffects, type Effects } from '../src/kit/files/effects.ts';
import { assertNotStopped, StoppedError } from '../src/kit/errors/errors.ts';
import { readSites, type Sites } from '../src/kit/sites/sites.ts';
import { currentManifest } from '../src/pipeline/snapshot/snapshot-store.ts';
import { assertNotOlder } from '../src/pipeline/snapshot/publish-stage.ts';
import { assertNotAhead } from '../src/kit/time/ahead-of-clock.ts';
import { momentOfMilliseconds, type Moment } from '../src/kit/time/moment.ts';
import type { Terminal } from '../src/kit/logging/progress.ts';
import { readRunClock, type Run, type Stage } from '../src/pipeline/runs/stage.ts';
import type { StateDatabase } from '../src/pipeline/warehouse/database.ts';
import { isInterruption, untilInterrupted } from '../src/kit/duckdb/interruption.ts';
import { copyRecentRuns } from '../src/pipeline/runs/recent-runs.ts';
import { noteOutcome } from '../src/pipeline/runs/pipeline-outcomes.ts';
import { forgetRefusedRuns, noteRefusedRun } from '../src/pipeline/runs/refused-runs.ts';
import { RunLedger, type StageRows } from '../src/pipeline/runs/run-ledger.ts';
import { UnendedRun, withWarehouse } from './with-warehouse.ts';

export interface RunRequest {
  data: DataDirectory;
  terminal: Terminal;
  /** `T`; by default the clock once the run holds the warehouse. */
  asOf?: Moment | undefined;
  /** Allows an as-of older than that of the published snapshot. */
  allowOlder?: boolean | undefined;
  /** Allows an as-of ahead of the clock. */
  allowFuture?: boolean | undefined;
  /** Moment of the schedule that this run is for; the schedule reads it back from the ledger. */
  scheduledAt?: Moment | undefined;
  /** Seconds to wait for the warehouse, where that is longer than configured. */
  waitSeconds?: number | undefined;
  /** Aborted when the run is asked to end, which it does before its next stage. */
  stop?: AbortSignal | undefined;
}

/** Context of a pipeline while it holds the warehouse. */
export interface OpenRun {
  run: Run;
  state: StateDatabase;
  sites: Sites;
  /** Runs a stage, with a row in the ledger and a log line; `rows` returns what the ledger records of its output. */
  stage: <Input, Output>(
    stage: Stage<Input, Output>,
    input: Input,
    rows?: (output: Output) => StageRows,
  ) => Promise<Output>;
}

/**
 * Runs `work` as the only writer: reads the configuration, locks and opens the warehouse, and opens a row in the run
 * ledger. Throws `UsageError` for bad configuration and an as-of that goes back or is ahead of the clock,
 * `WarehouseBusyError` where the warehouse stays locked.
 */
export async function runPipeline<Result extends object>(
  pipeline: string,
  request: RunRequest,
  work: (open: OpenRun) => Promise<Result>,
  effects: Effects = realEffects,
): Promise<Result & { runId: number; asOf: Moment }> {
  const { data, terminal, waitSeconds, stop } = request;
  const settings = readSettings(data);
  const sites = readSites(data.sitesFile);
  for (const warning of sites.warnings) terminal.logger.warn(warning);
  if (request.asOf !== undefined && !request.allowFuture)
    assertNotAhead(request.asOf, momentOfMilliseconds(effects.now()));
  await effects.files.makeDirectory(data.published);
  const noting = { data, effects, logger: terminal.logger };
  const command = `run ${pipeline}`;
  // A failure is no refused run where the ledger has it, and no outcome where the request itself is refused.
  let failureNotes: 'none' | 'outcome' | 'outcome and refused run' =
    settings.storage?.follow === true ? 'none' : 'outcome and refused run';
  const begin = async (state: StateDatabase) => {
    // Read once the warehouse is held: a run that this one waited for may have published as of a later moment.
    const clock = readRunClock(effects, request.asOf);
    const published = await currentManifest(data);
    if (published !== undefined && !request.allowOlder) {
      const isAskedFor = request.asOf !== undefined;
      failureNotes = isAskedFor ? 'none' : 'outcome';
      assertNotOlder(clock, published.as_of, { isAskedFor });
      failureNotes = 'outcome and refused run';
    }
    const parts = { ...clock, data, settings, ...terminal, effects, stop };
    const onBegun = () => void (failureNotes = 'outcome');
    const begun = { pipeline, scheduledAt: request.scheduledAt, parts, state, sites, onBegun };
    const result = await ledgeredRun(begun, work);
    // The ledger has the run as done now, so it does not show a failure from here on.
    failureNotes = 'outcome and refused run';
    return result;
  };
  try {
    const result = await withWarehouse({ command, data, terminal, settings, effects, waitSeconds, stop }, begin);
    await forgetRefusedRuns(noting, pipeline);
    await noteOutcome(noting, pipeline);
    return result;
  } catch (error) {
    if (failureNotes !== 'none') await noteOutcome(noting, pipeline, error);
    const isRefused = failureNotes === 'outcome and refused run' && !(error instanceof StoppedError);
    if (isRefused) await noteRefusedRun(noting, command, error);
    throw error;
  }
}

/** A run that has the warehouse, and no row in the ledger yet. */
interface RunWithoutRow extends Pick<OpenRun, 'state' | 'sites'>, Pick<RunRequest, 'scheduledAt'> {
  pipeline: string;
  parts: Omit<Run, 'runId'>;
  /** Called once the ledger has its row. */
  onBegun: () => void;
}

async function ledgeredRun<Result extends object>(
  { pipeline, scheduledAt, parts, state, sites, onBegun }: RunWithoutRow,
  work: (open: OpenRun) => Promise<Result>,
): Promise<Result & { runId: number; asOf: Moment }> {
  const ledger = new RunLedger(state);
  await adoptPulls(parts.data, state, parts.logger);
  const now = () => momentOfMilliseconds(parts.effects.now());
  const runId = await ledger.begin(pipeline, parts.asOf, parts.wallClock, scheduledAt);
  onBegun();
  const run: Run = { ...parts, runId };
  await copyRecentRuns(run, state);
  run.logger.info({ run: runId, as_of: run.asOf }, `${pipeline} begins`);
  let result: Result;
  try {
    result = await work({ run, state, sites, stage: stageRunner(pipeline, run, ledger, state) });
    await ledger.end(runId, now(), {
      status: 'done',
      snapshotId: 'snapshotId' in result ? (result.snapshotId as string | null) : null,
    });
  } catch (error) {
    try {
      await ledger.end(runId, now(), endOf(error as Error));
      await copyRecentRuns(run, state);
    } catch {
      throw new UnendedRun(error as Error);
    }
    throw error;
  }
  await copyRecentRuns(run, state);
  return { ...result, runId, asOf: run.asOf };
}

/** Returns how a run's stages are begun, timed, interrupted and written to the ledger. */
function stageRunner(pipeline: string, run: Run, ledger: RunLedger, state: StateDatabase): OpenRun['stage'] {
  const now = () => momentOfMilliseconds(run.effects.now());
  return async (each, input, rows = () => ({})) => {
    assertNotStopped(
      run.stop,
      `${pipeline} was asked to end before its stage ${each.name}; what is done stays done, and the next run goes on`,
    );
    await ledger.beginStage(run.runId, each.name, now());
    const started = performance.now();
    try {
      const output = await untilInterrupted(state, run.stop, () => each.run(run, input));
      await ledger.endStage(run.runId, each.name, now(), { status: 'done', ...rows(output) });
      run.logger.info(
        { run: run.runId, ms: Math.round(performance.now() - started), ...(output as object) },
        'done: %s',
        each.name,
      );
      return output;
    } catch (caught) {
      const error = isInterruption(caught) ? new StoppedError(interrupted(pipeline, each.name)) : (caught as Error);
      // Fails as well where the database failed; the first error is the one to report.
      await ledger.endStage(run.runId, each.name, now(), endOf(error)).catch(() => undefined);
      throw error;
    }
  };
}

/** How a run or stage that threw the error ends in the ledger. */
function endOf(error: Error): { status: 'interrupted' | 'failed'; error: string } {
  return { status: error instanceof StoppedError ? 'interrupted' : 'failed', error: error.message };
}

function interrupted(pipeline: string, stage: string): string {
  return `${pipeline} was asked to end, and its stage ${stage} was interrupted: nothing of that stage is kept, and the next run does it again`;
}
