import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { currentManifest } from '../../pipeline/snapshot/snapshot-store.ts';
import { futureTimestampsAdvice } from '../../kit/time/ahead-of-clock.ts';
import { compareMoments, momentOfMilliseconds } from '../../kit/time/moment.ts';
import type { Logger } from '../../kit/logging/log.ts';

/**
 * Whether a refresh as of `now`, in milliseconds since the epoch, would not be refused for going back. Says so where it
 * would: it is asked at each moment of the schedule, which goes on by itself once the clock has caught up.
 */
export async function isRefreshDue(data: DataDirectory, logger: Logger, now: number): Promise<boolean> {
  const published = await currentManifest(data);
  if (published === undefined || compareMoments(published.as_of, momentOfMilliseconds(now)) <= 0) return true;
  const { snapshot_id, as_of } = published;
  logger.error(
    { snapshot_id, as_of },
    `no refresh is started: the published snapshot lies ahead of this machine's clock; ${futureTimestampsAdvice}`,
  );
  return false;
}
