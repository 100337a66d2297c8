import type { DataDirectory } from '../src/kit/config/data-directory.ts';
import { readSettings, type Settings } from '../src/kit/config/settings.ts';
import { realEffects, type Effects } from '../src/kit/files/effects.ts';
import type { Terminal } from '../src/kit/logging/progress.ts';
import { momentOfMilliseconds } from '../src/kit/time/moment.ts';
import { keepCopy, noteDamage } from '../src/pipeline/recovery/damage-note.ts';
import { openWarehouse, type Opening } from '../src/pipeline/recovery/recover-state.ts';
import { claimLanding } from '../src/pipeline/runs/landing-claim.ts';
import { copyRecentRuns } from '../src/pipeline/runs/recent-runs.ts';
import { RunLedger } from '../src/pipeline/runs/run-ledger.ts';
import { runOnStorage } from '../src/pipeline/runs/run-on-storage.ts';
import { withWriterLock, type WarehouseWait } from '../src/pipeline/runs/writer-lock.ts';
import { openStateDatabase, type StateDatabase } from '../src/pipeline/warehouse/database.ts';
import { fitThreads } from '../src/pipeline/warehouse/small-warehouse.ts';

/** Who opens the warehouse, and for what. */
export interface WarehouseUse extends WarehouseWait {
  /** As those who wait see it, such as `run refresh`. */
  command: string;
  data: DataDirectory;
  terminal: Terminal;
  /** By default those of the data directory. */
  settings?: Settings;
  effects?: Effects;
  /** A preview changes nothing. */
  isPreview?: boolean;
}

/**
 * Locks and opens the warehouse for `work`. Waits for another run, then throws `WarehouseBusyError`. For a
 * preview throws `OlderStateError` where an older version wrote the state.
 */
export async function withWarehouse<Result>(
  {
    command,
    data,
    terminal: { logger },
    settings = readSettings(data),
    effects = realEffects,
    isPreview = false,
    ...waiting
  }: WarehouseUse,
  work: (state: StateDatabase) => Promise<Result>,
): Promise<Result> {
  return withWriterLock(command, { data, settings, logger, effects, isPreview, ...waiting }, async (opening) => {
    await claimLanding(data, settings.storage?.url, logger, effects.files);
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
export class UnendedRun extends Error {
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
