import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { currentManifest } from '../../pipeline/snapshot/snapshot-store.ts';
import { futureTimestampsAdvice } from '../../kit/time/ahead-of-clock.ts';
import { compareMoments, momentOfMilliseconds } from '../../kit/time/moment.ts';
import type { Logger } from '../../kit/logging/log.ts';

/**
 * Returns false, and logs it, where a refresh as of `now`, in milliseconds since the epoch, would be refused for going
 * back. The schedule asks at each moment, and goes on by itself once the clock has caught up.
 */
export async function isRefreshDue(data: DataDirectory, logger: Logger, now: number): Promise<boolean> {
  const published = await currentManifest(data);
  if (published === undefined || compareMoments(published.as_of, momentOfMilliseconds(now)) <= 0) return true;
  const { snapshot_id, as_of } = published;
  logger.error(
    { snapshot_id, as_of },
    `no refresh is started: the published snapshot is ahead of this machine's clock; ${futureTimestampsAdvice}`,
  );
  return false;
}
