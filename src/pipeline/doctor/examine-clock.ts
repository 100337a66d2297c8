import type { DuckDBConnection } from '@duckdb/node-api';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { martsAsOf } from '../warehouse/dirty-partitions.ts';
import { currentManifest } from '../snapshot/snapshot-store.ts';
import { aheadOfClock, endOfPresent } from '../../kit/time/ahead-of-clock.ts';
import { momentOfMilliseconds } from '../../kit/time/moment.ts';
import { readFutureEffective, describeFutureEffective } from '../runs/future-effective.ts';
import { queryRows } from '../../kit/duckdb/dialect/rows.ts';
import { trouble, type Finding } from './finding.ts';

const checkClockFirst = 'first make sure that the clock is right: then';

/** Finds a published snapshot with an as-of ahead of the clock. `now` in milliseconds since the epoch. */
export async function examinePublishedTime(data: DataDirectory, now: number): Promise<Finding[]> {
  const published = await currentManifest(data);
  if (published === undefined || aheadOfClock(published.as_of, now) === 0) return [];
  return [
    trouble(
      'clock',
      published.snapshot_id,
      `is as of ${published.as_of}, but the clock says ${momentOfMilliseconds(now)}: no refresh is let in before`,
      `${checkClockFirst} a snapshot as of now takes its place`,
    ),
  ];
}

/** Finds unpublished figures, offer versions and commissions that are ahead of the clock. */
export async function examineTimes(data: DataDirectory, connection: DuckDBConnection, now: number): Promise<Finding[]> {
  const findings: Finding[] = [];
  const computed = await martsAsOf(connection);
  if (computed !== undefined && aheadOfClock(computed, now) > 0) {
    findings.push(
      trouble(
        'clock',
        data.stateFile,
        `has figures as of ${computed}, but the clock says ${momentOfMilliseconds(now)}`,
        `${checkClockFirst} they are computed as of now`,
      ),
    );
  }
  const future = await readFutureEffective(endOfPresent(now), 'state', (sql) => queryRows(connection, sql));
  if (future !== undefined) {
    findings.push(
      trouble(
        'clock',
        data.stateFile,
        describeFutureEffective(future),
        `${checkClockFirst} each takes effect when its run wrote it, and credits since then are priced again; rewards of postbacks stay`,
      ),
    );
  }
  return findings;
}
