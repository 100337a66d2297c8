import type { Site } from '../../../kit/sites/sites.ts';
import { commissionText } from '../../../kit/sites/sites.ts';
import { compareMoments, shiftMoment, type Moment } from '../../../kit/time/moment.ts';
import type { StateDatabase } from '../../warehouse/database.ts';
import { insertRows } from '../../../kit/duckdb/insert-rows.ts';

/**
 * Records changes of sites' commissions: all amounts in a site's feed change with it, so its offers count as updated. A
 * site's first commission is no change.
 */
export async function recordCommissions(state: StateDatabase, sites: readonly Site[], asOf: Moment): Promise<void> {
  const { connection, db } = state;
  await state.transaction(async () => {
    const latest = await db
      .selectFrom('site_commissions')
      .select(['site_key', 'valid_from', 'commission'])
      .distinctOn('site_key')
      .orderBy('site_key')
      .orderBy('valid_from', 'desc')
      .execute();
    const known = new Map(latest.map(({ site_key, ...commission }) => [site_key, commission]));
    const changed = sites.flatMap((site) => {
      const last = known.get(site.site_key);
      if (last !== undefined && Number(last.commission) === site.commission) return [];
      return [
        { site_key: site.site_key, valid_from: validFrom(asOf, last?.valid_from), commission: commissionText(site) },
      ];
    });
    const shape = { site_key: 'VARCHAR', valid_from: 'VARCHAR', commission: 'VARCHAR' } as const;
    await insertRows(connection, 'site_commissions', shape, changed);
  }, 'commissions');
}

/** Returns as-of, or a microsecond after the last change where as-of is not later. */
function validFrom(asOf: Moment, last: Moment | undefined): Moment {
  if (last === undefined) return asOf;
  const following = shiftMoment(last, 1n);
  return compareMoments(following, asOf) > 0 ? following : asOf;
}
