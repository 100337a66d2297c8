import { termsOf } from '../../../kit/sites/site-terms.ts';
import { rewardRateText, type Site } from '../../../kit/sites/sites.ts';
import { compareMoments, shiftMoment, type Moment } from '../../../kit/time/moment.ts';
import type { StateDatabase } from '../../warehouse/database.ts';
import { insertRows } from '../../../kit/duckdb/insert-rows.ts';

/**
 * Records changes of sites' terms. They change feeds: offers whose amounts change, or that a site may have from now on,
 * count as updated. They change conversions, whose rewards go by the rate, too. A site's first terms are no change. A
 * change counts `from` a moment on, or a microsecond after the one before where that is not earlier. In the caller's
 * transaction.
 */
export async function recordSiteTerms(
  { connection, db }: StateDatabase,
  sites: readonly Site[],
  from: Moment,
): Promise<void> {
  const latest = await db
    .selectFrom('site_terms')
    .select(['site_key', 'valid_from', 'commission', 'commissions', 'offers', 'reward_rate'])
    .distinctOn('site_key')
    .orderBy('site_key')
    .orderBy('valid_from', 'desc')
    .execute();
  const known = new Map(latest.map(({ site_key, ...terms }) => [site_key, terms]));
  const changed = sites.flatMap((site) => {
    const last = known.get(site.site_key);
    const terms = termsOf(site);
    const [commissions, offers] = [JSON.stringify(terms.commissions), JSON.stringify(terms.offers)];
    const isSame =
      last !== undefined &&
      Number(last.commission) === site.commission &&
      last.commissions === commissions &&
      last.offers === offers &&
      // Of terms from before it was kept none is known: then there is one from now on.
      last.reward_rate !== null &&
      Number(last.reward_rate) === site.reward_rate;
    if (isSame) return [];
    const valid_from = validFrom(from, last?.valid_from);
    const reward_rate = rewardRateText(site);
    return [{ site_key: site.site_key, valid_from, commission: terms.commission, commissions, offers, reward_rate }];
  });
  const shape = {
    site_key: 'VARCHAR',
    valid_from: 'VARCHAR',
    commission: 'VARCHAR',
    commissions: 'VARCHAR',
    offers: 'VARCHAR',
    reward_rate: 'VARCHAR',
  } as const;
  await insertRows(connection, 'site_terms', shape, changed);
}

function validFrom(from: Moment, last: Moment | undefined): Moment {
  if (last === undefined) return from;
  const following = shiftMoment(last, 1n);
  return compareMoments(following, from) > 0 ? following : from;
}
