import type { Settings } from '../../kit/config/settings.ts';
import type { Opening } from '../recovery/recover-state.ts';
import type { ProcessLock } from '../../kit/files/process-lock.ts';
import { acquireWriterLock } from './lock.ts';

/** Runs `work` while it holds the writer's lock. Waits as long as configured, then throws `WarehouseBusyError`. */
export async function withWriterLock<Result>(
  command: string,
  opening: Opening & { settings: Pick<Settings, 'lock_wait_seconds'> },
  work: (opening: Opening) => Promise<Result>,
): Promise<Result> {
  const { data, settings, logger, effects } = opening;
  let lock: ProcessLock | undefined;
  try {
    await effects.perform('lock: taken', async () => {
      lock = await acquireWriterLock(data, {
        command,
        waitSeconds: settings.lock_wait_seconds,
        onWaiting: (message) => logger.info(message),
      });
    });
    return await work(opening);
  } finally {
    lock?.release();
  }
}
