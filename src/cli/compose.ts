import { existsSync } from 'node:fs';
import { isBundled, packageFile } from '../kit/files/package-files.ts';
import { FleetPart } from '../kit/config/fleet-part.ts';
import { sparkEngine } from '../pipeline/ingest/engine/spark-part.ts';
import { storageOfRuns } from '../pipeline/runs/run-on-storage.ts';
import { postgresDeliveries } from '../postbacks/postgres-deliveries.ts';
import type { OpenSharedLimits } from '../serve/service.ts';

/*
 * The composition root: the only file outside `fleet` that imports it. Parts are loaded where settings ask for them; a
 * build without `src/fleet` refuses those settings.
 */

const sharedLimits = new FleetPart<OpenSharedLimits>('limits');
export const followedStorage = new FleetPart<typeof import('../fleet/storage/follow.ts')>('storage');
export const acceptedPointer = new FleetPart<typeof import('../fleet/storage/accept-pointer.ts')>('storage');
export const examinedCatalog = new FleetPart<typeof import('../fleet/storage/examine-catalog.ts')>('storage');
export const leasedSchedule = new FleetPart<typeof import('../fleet/storage/leased-schedule.ts')>('storage');

export const openSharedLimits: OpenSharedLimits = async (options) => (await sharedLimits.load())(options);

if (isBundled || existsSync(packageFile('src/fleet'))) {
  sparkEngine.handIn(async () => (await import('../fleet/spark/drivers-of-run.ts')).openSparkEngine);
  storageOfRuns.handIn(async () => (await import('../fleet/storage/writer/run-on-storage.ts')).openRunOnStorage);
  followedStorage.handIn(() => import('../fleet/storage/follow.ts'));
  acceptedPointer.handIn(() => import('../fleet/storage/accept-pointer.ts'));
  examinedCatalog.handIn(() => import('../fleet/storage/examine-catalog.ts'));
  leasedSchedule.handIn(() => import('../fleet/storage/leased-schedule.ts'));
  sharedLimits.handIn(async () => (await import('../fleet/shared-limits/shared-limits.ts')).openRedisLimits);
  postgresDeliveries.handIn(async () => {
    const { PostgresStore } = await import('../fleet/postgres-deliveries/postgres-store.ts');
    const moves = await import('../fleet/move-deliveries/move-deliveries.ts');
    return { open: (address) => PostgresStore.open(address), ...moves };
  });
}
