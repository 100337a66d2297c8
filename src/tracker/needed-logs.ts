import { relative } from 'node:path';
import type { DataDirectory } from '../kit/config/data-directory.ts';
import { firstCountedDay } from './clicks/restore-counts.ts';
import { daysRemembered } from './conversions/recorded-conversions.ts';
import { dayNumberOf, dayText, ownLogs } from './logs/log-names.ts';

/**
 * Paths within the landing folder that a tracker reads when it starts: the conversions of 90 days for duplicates, and
 * the newest clicks for caps. `now` in milliseconds since the epoch.
 */
export function logsReadAtStart(data: DataDirectory, now: number): ReadonlySet<string> {
  const logs = [
    ...ownLogs(data, 'clicks', dayText(firstCountedDay(now))),
    ...ownLogs(data, 'conversions', dayText(dayNumberOf(now) - daysRemembered)),
  ];
  return new Set(logs.map(({ path }) => relative(data.landing, path)));
}
