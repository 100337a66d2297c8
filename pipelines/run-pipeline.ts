import type { DataDirectory } from '../src/kit/config/data-directory.ts';
import { adoptPulls } from './adopt-pulls.ts';
import { readSettings, type Settings } from '../src/kit/config/settings.ts';
import { realEffects, type Effects } from '../src/kit/files/effects.ts';
import { assertNotStopped, StoppedError } from '../src/kit/errors/errors.ts';
import { keepCopy, noteDamage } from '../src/pipeline/recovery/damage-note.ts';
import { openWarehouse, type Opening } from '../src/pipeline/recovery/recover-state.ts';
import { fitThreads } from '../src/pipeline/warehouse/small-warehouse.ts';
import { readSites, type Sites } from '../src/kit/sites/sites.ts';
import { currentManifest } from '../src/pipeline/snapshot/snapshot-store.ts';
import { assertNotOlder } from '../src/pipeline/snapshot/publish-stage.ts';
import { assertNotAhead } from '../src/kit/time/ahead-of-clock.ts';
import { momentOfMilliseconds, type Moment } from '../src/kit/time/moment.ts';
import type { Terminal } from '../src/kit/logging/progress.ts';
import { readRunClock, type Run, type Stage } from '../src/pipeline/runs/stage.ts';
import { openStateDatabase, type StateDatabase } from '../src/pipeline/warehouse/database.ts';
import { isInterruption, untilInterrupted } from '../src/kit/duckdb/interruption.ts';
import { withWriterLock } from '../src/pipeline/runs/writer-lock.ts';
import { copyRecentRuns } from '../src/pipeline/runs/recent-runs.ts';
import { noteOutcome } from '../src/pipeline/runs/pipeline-outcomes.ts';
import { forgetRefusedRuns, noteRefusedRun } from '../src/pipeline/runs/refused-runs.ts';
import { claimLanding } from '../src/pipeline/runs/landing-claim.ts';
import { runOnStorage } from '../src/pipeline/runs/run-on-storage.ts';
import { RunLedger, type StageRows } from '../src/pipeline/runs/run-ledger.ts';

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
  const { data, terminal } = request;
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
  const open = async (state: StateDatabase) => {
    // Read once the warehouse is held: a run that this one waited for may have published as of a later moment.
    const clock = readRunClock(effects, request.asOf);
    const published = await currentManifest(data);
    if (published !== undefined && !request.allowOlder) {
      const isAskedFor = request.asOf !== undefined;
      failureNotes = isAskedFor ? 'none' : 'outcome';
      assertNotOlder(clock, published.as_of, { isAskedFor });
      failureNotes = 'outcome and refused run';
    }
    const parts = { ...clock, data, settings, ...terminal, effects };
    const onBegun = () => void (failureNotes = 'outcome');
    const result = await ledgeredRun(pipeline, { ...request, onBegun }, parts, state, sites, work);
    // The ledger has the run as done now, so it does not show a failure from here on.
    failureNotes = 'outcome and refused run';
    return result;
  };
  try {
    const result = await withWarehouse(command, data, terminal, open, settings, effects);
    await forgetRefusedRuns(noting);
    await noteOutcome(noting, pipeline);
    return result;
  } catch (error) {
    if (failureNotes !== 'none') await noteOutcome(noting, pipeline, error);
    if (failureNotes === 'outcome and refused run') await noteRefusedRun(noting, command, error);
    throw error;
  }
}

/**
 * Locks and opens the warehouse for `work`. Waits as long as configured, then throws `WarehouseBusyError`. For a
 * preview, which changes nothing, throws `OlderStateError` where an older version wrote the state.
 */
export async function withWarehouse<Result>(
  command: string,
  data: DataDirectory,
  { logger }: Terminal,
  work: (state: StateDatabase) => Promise<Result>,
  settings: Settings = readSettings(data),
  effects: Effects = realEffects,
  { isPreview = false } = {},
): Promise<Result> {
  return withWriterLock(command, { data, settings, logger, effects, isPreview }, async (opening) => {
    await claimLanding(data, settings.storage?.url);
    using storage = await runOnStorage(settings, opening);
    const state = await openWarehouse(opening);
    let result: Result;
    try {
      await fitThreads(state.connection, settings);
      await storage?.begin(state);
      result = await work(state);
      await storage?.note(state);
    } catch (caught) {
      // The first error is the one to report.
      await state.close().catch(() => undefined);
      const error = caught instanceof UnendedRun ? caught.cause : caught;
      if (caught instanceof UnendedRun) await caught.end(opening, settings);
      const damage = await noteDamage(data, error, effects).catch((failure: unknown) => {
        logger.warn({ err: failure }, 'the damage could not be noted for the next run; run `offerline doctor --deep`');
        return undefined;
      });
      throw damage ?? error;
    }
    await state.close();
    await keepCopy(opening);
    await storage?.publish({ sweep: command === 'run maintenance' });
    return result;
  });
}

/** A run failed by its cause, and its database accepts no statement any more, so that the run could not be ended. */
class UnendedRun extends Error {
  override readonly cause: Error;
  constructor(cause: Error) {
    super(cause.message);
    this.cause = cause;
  }

  /** Opens the database again to end the run. Where that fails, too, the next run marks this one as interrupted. */
  async end({ data, effects, logger }: Opening, settings: Settings): Promise<void> {
    try {
      const state = await openStateDatabase(data, settings, undefined, effects);
      try {
        await new RunLedger(state).endRunning(momentOfMilliseconds(effects.now()), this.cause.message);
        await copyRecentRuns({ data, effects, logger }, state);
      } finally {
        await state.close();
      }
    } catch (error) {
      logger.warn(
        { err: error },
        'the end of this run could not be written to the ledger; the next run marks it as interrupted',
      );
    }
  }
}

async function ledgeredRun<Result extends object>(
  pipeline: string,
  { scheduledAt, stop, onBegun }: Pick<RunRequest, 'scheduledAt' | 'stop'> & { onBegun: () => void },
  parts: Omit<Run, 'runId'>,
  state: StateDatabase,
  sites: Sites,
  work: (open: OpenRun) => Promise<Result>,
): Promise<Result & { runId: number; asOf: Moment }> {
  const ledger = new RunLedger(state);
  await adoptPulls(parts.data, state);
  const now = () => momentOfMilliseconds(parts.effects.now());
  const runId = await ledger.begin(pipeline, parts.asOf, parts.wallClock, scheduledAt);
  onBegun();
  const run: Run = { ...parts, runId, stop };
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
    const status = error instanceof StoppedError ? 'interrupted' : 'failed';
    try {
      await ledger.end(runId, now(), { status, error: (error as Error).message });
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
      await ledger.endStage(run.runId, each.name, now(), rows(output));
      run.logger.info(
        { run: run.runId, ms: Math.round(performance.now() - started), ...(output as object) },
        'done: %s',
        each.name,
      );
      return output;
    } catch (caught) {
      const error = isInterruption(caught) ? new StoppedError(interrupted(pipeline, each.name)) : caught;
      // Fails as well where the database failed; the first error is the one to report.
      await ledger.endStage(run.runId, each.name, now(), { error: (error as Error).message }).catch(() => undefined);
      throw error;
    }
  };
}

function interrupted(pipeline: string, stage: string): string {
  return `${pipeline} was asked to end, and its stage ${stage} was interrupted: nothing of that stage is kept, and the next run does it again`;
}
