import type { DataDirectory } from '../src/kit/config/data-directory.ts';
import { readSettings } from '../src/kit/config/settings.ts';
import { UsageError } from '../src/kit/errors/errors.ts';
import { realEffects, type Effects } from '../src/kit/files/effects.ts';
import type { Terminal } from '../src/kit/logging/progress.ts';
import { holdsDeliveries, isShared, postgresAddress } from '../src/postbacks/open-store.ts';
import { postgresDeliveries, type MovedDeliveries } from '../src/postbacks/postgres-deliveries.ts';
import { acquireDeliveryLock } from '../src/postbacks/store/delivery-lock.ts';
import { giveUpKnownStore } from '../src/pipeline/deliveries/known-store.ts';
import type { StateDatabase } from '../src/pipeline/warehouse/database.ts';
import { withWriterLock } from '../src/pipeline/runs/writer-lock.ts';
import { withWarehouse } from './with-warehouse.ts';

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
  if (address === undefined && to === 'sqlite' && holdsDeliveries(data)) {
    const deliveries = await postgresDeliveries.load();
    return { ...(await deliveries.contentsOfFile(data.deliveriesFile)), from: null, to: data.deliveriesFile };
  }
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

/**
 * Makes the next run restore deliveries from the warehouse into the store that settings name; the former is lost.
 * Throws `UsageError` where settings do not name `to`, or `to` is postgres and the file here still has deliveries.
 */
export async function giveUpPostbacks(
  data: DataDirectory,
  terminal: Terminal,
  to: (typeof moveTargets)[number],
): Promise<void> {
  const settings = readSettings(data);
  if (isShared(settings) !== (to === 'postgres'))
    throw new UsageError(
      `--to ${to} --lost needs postbacks.store ${to === 'postgres' ? 'in' : 'taken out of'} ${data.settingsFile} first`,
    );
  if (to === 'postgres' && holdsDeliveries(data))
    throw new UsageError(`${data.deliveriesFile} is not lost: leave --lost out, and its deliveries are moved`);
  const work = ({ connection }: StateDatabase) => giveUpKnownStore(connection);
  await withWarehouse({ command: 'postbacks move', data, terminal, settings }, work);
}
