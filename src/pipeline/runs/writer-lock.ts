import type { Settings } from '../../kit/config/settings.ts';
import type { Opening } from '../recovery/recover-state.ts';
import { acquireWriterLock } from './lock.ts';

/** Runs `work` while it holds the writer's lock. Waits as long as configured, then throws `WarehouseBusyError`. */
export async function withWriterLock<Result>(
  command: string,
  opening: Opening & { settings: Pick<Settings, 'lock_wait_seconds'> },
  work: (opening: Opening) => Promise<Result>,
): Promise<Result> {
  const { data, settings, logger, effects } = opening;
  const lock = await effects.perform('lock: taken', () =>
    acquireWriterLock(data, {
      command,
      waitSeconds: settings.lock_wait_seconds,
      onWaiting: (message) => logger.info(message),
    }),
  );
  try {
    return await work(opening);
  } finally {
    lock.release();
  }
}
