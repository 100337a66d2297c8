import type { Site } from '../sites/sites.ts';
import { commissionText } from '../sites/sites.ts';
import type { Moment } from '../stage/as-of.ts';
import type { StateDatabase } from '../warehouse/database.ts';
import { queryRows } from '../warehouse/dialect/rows.ts';

/**
 * Remembers when a site's commission changed: all that its feed shows changes with it, so its offers count as updated.
 * A site's first commission is no change.
 */
export async function recordCommissions(state: StateDatabase, sites: readonly Site[], asOf: Moment): Promise<void> {
  const { connection } = state;
  await state.transaction(async () => {
    const latest = await queryRows<{ site_key: string; commission: string }>(
      connection,
      `SELECT site_key, commission FROM site_commissions QUALIFY row_number() OVER (PARTITION BY site_key ORDER BY valid_from DESC) = 1`,
    );
    const known = new Map(latest.map(({ site_key, commission }) => [site_key, Number(commission)]));
    const changed = sites.filter((site) => known.get(site.site_key) !== site.commission);
    for (const site of changed) {
      await connection.run(
        `INSERT INTO site_commissions SELECT $1, greatest($2::TIMESTAMPTZ, max(valid_from) + INTERVAL 1 MICROSECOND), $3::DECIMAL(7, 6)
         FROM site_commissions WHERE site_key = $1`,
        [site.site_key, asOf, commissionText(site)],
      );
    }
  }, 'commissions');
}
