import { windowStart } from '../models/windows.ts';
import type { Moment } from '../time/moment.ts';

/**
 * A query with its moments written into it, for what is kept as text in a snapshot and run by analysts. A literal with
 * its offset means the same in every session's time zone; `date_trunc` would not.
 */
export function withMoments(query: string, asOf: Moment): string {
  const moments: Record<string, Moment> = { as_of: asOf, window_start: windowStart(asOf) };
  return query.replaceAll(/\$(\w+)/g, (parameter, name: string) => {
    const moment = moments[name];
    if (moment === undefined)
      throw new Error(`there is no moment ${parameter} to write into a query; use $as_of or $window_start`);
    return `TIMESTAMPTZ '${moment}'`;
  });
}
