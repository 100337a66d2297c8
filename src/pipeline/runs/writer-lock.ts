import type { Settings } from '../../kit/config/settings.ts';
import type { Opening } from '../recovery/recover-state.ts';
import type { ProcessLock } from '../../kit/files/process-lock.ts';
import { assertNotStopped } from '../../kit/errors/errors.ts';
import { acquireWriterLock } from './lock.ts';

/** How long the warehouse is waited for. */
export interface WarehouseWait {
  /** Seconds, where it is to wait longer than configured. */
  waitSeconds?: number | undefined;
  /** Ends the waiting. */
  stop?: AbortSignal | undefined;
}

/**
 * Runs `work` while it holds the writer's lock. Waits as long as configured, or asked for if that is longer, then
 * throws `WarehouseBusyError`; `StoppedError` once `stop` is aborted.
 */
export async function withWriterLock<Result>(
  command: string,
  opening: Opening & { settings: Pick<Settings, 'lock_wait_seconds'> } & WarehouseWait,
  work: (opening: Opening) => Promise<Result>,
): Promise<Result> {
  const { data, settings, logger, effects, waitSeconds = 0, stop } = opening;
  let lock: ProcessLock | undefined;
  try {
    await effects.perform('lock: taken', async () => {
      lock = await acquireWriterLock(data, {
        command,
        waitSeconds: Math.max(settings.lock_wait_seconds, waitSeconds),
        onWaiting: (message) => logger.info(message),
        signal: stop,
      }).catch((error: unknown) => {
        assertNotStopped(stop, `${command} was asked to end while it waited for the warehouse; nothing was changed`);
        throw error;
      });
    });
    return await work(opening);
  } finally {
    lock?.release();
  }
}
