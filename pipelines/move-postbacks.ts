import type { DataDirectory } from '../src/kit/config/data-directory.ts';
import { readSettings } from '../src/kit/config/settings.ts';
import { UsageError } from '../src/kit/errors/errors.ts';
import { realEffects, type Effects } from '../src/kit/files/effects.ts';
import type { Terminal } from '../src/kit/logging/progress.ts';
import { postgresAddress } from '../src/postbacks/open-store.ts';
import { postgresDeliveries, type MovedDeliveries } from '../src/postbacks/postgres-deliveries.ts';
import { acquireDeliveryLock } from '../src/postbacks/store/delivery-lock.ts';
import { withWriterLock } from '../src/pipeline/runs/writer-lock.ts';

export const moveTargets = ['postgres', 'sqlite'] as const;

/**
 * Moves all deliveries to the other store. Throws `WarehouseBusyError` while a run, `DeliveryBusyError` while a pass is
 * under way.
 */
export async function movePostbacks(
  {
    data,
    terminal,
    to,
    dryRun,
  }: {
    data: DataDirectory;
    terminal: Terminal;
    to: (typeof moveTargets)[number];
    dryRun: boolean;
  },
  effects: Effects = realEffects,
): Promise<MovedDeliveries> {
  const settings = readSettings(data);
  const address = postgresAddress(settings);
  if (address === undefined)
    throw new UsageError(
      `${data.settingsFile} names no PostgreSQL: write its address into postbacks.store first, for moving back, too`,
    );
  const { logger, progress } = terminal;
  return withWriterLock('postbacks move', { data, settings, logger, effects }, async () => {
    const lock = await acquireDeliveryLock(data, {
      command: 'postbacks move',
      waitSeconds: 0,
      onWaiting: (message) => logger.info(message),
    });
    try {
      const deliveries = await postgresDeliveries.load();
      const moving = { data, address, dryRun, progress };
      return to === 'postgres'
        ? await deliveries.moveToPostgres(moving, effects)
        : await deliveries.moveToSqlite(moving, effects);
    } finally {
      lock.release();
    }
  });
}
