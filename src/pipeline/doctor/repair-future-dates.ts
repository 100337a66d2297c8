import { momentOfMilliseconds, type Moment } from '../../kit/time/moment.ts';
import type { StateDatabase } from '../warehouse/database.ts';
import { queryRows } from '../../kit/duckdb/dialect/rows.ts';
import { makeTempTable } from '../../kit/duckdb/temp-table.ts';
import { bumpRevision } from '../warehouse/metadata.ts';
import { invalidatePricedSince, markDaysOfConversions } from '../warehouse/dirty-partitions.ts';

/**
 * Moves offer versions and sites' terms that take effect after the clock back; `now` in milliseconds since the epoch. A
 * version takes effect when its run wrote it, by that run's wall clock and at most now: from then on feeds showed its
 * price. Versions keep their order, a microsecond apart where needed. What this changes for publishers counts as
 * updated now. Marks days with other prices to be computed again; the outbox stays.
 */
export async function repairFutureDates(state: StateDatabase, now: number): Promise<void> {
  const { connection } = state;
  const present = momentOfMilliseconds(now);
  await state.transaction(async () => {
    const since = await repairVersions(state, present);
    await repairTerms(state, present);
    if (since !== null) await invalidatePricedSince(connection, since);
    await repairKnown(state, present, since);
    await bumpRevision(connection);
  }, 'repair of times');
}

/** Returns the earliest moment from which another version is valid now; null where none is. */
async function repairVersions({ connection, db }: StateDatabase, present: Moment): Promise<Moment | null> {
  const clock = `TIMESTAMPTZ '${present}'`;
  const movedBack = await makeTempTable(
    connection,
    'moved_back',
    `SELECT offer_id, version, ${inOrder('began', 'offer_id', 'version')} AS valid_from
     FROM (
       -- A run that the ledger has no more gives NULL, which least ignores.
       SELECT offer_id, version, valid_from > ${clock} AS is_ahead, CASE WHEN is_ahead THEN least(started_at, ${clock}) ELSE valid_from END AS began
       FROM offer_versions LEFT JOIN runs USING (run_id))
     QUALIFY is_ahead`,
  );
  const firstSeenBack = await makeTempTable(
    connection,
    'first_seen_back',
    `SELECT offer_id, first_seen_at, valid_from FROM offers JOIN ${movedBack} USING (offer_id) WHERE version = 1 AND first_seen_at > ${clock}`,
  );
  // Only where the source gave none. The digest keeps the old one, so the next export makes one more version.
  await connection.run(
    `UPDATE offer_versions SET created_at = seen.valid_from FROM ${firstSeenBack} AS seen
     WHERE offer_versions.offer_id = seen.offer_id AND offer_versions.created_at = seen.first_seen_at`,
  );
  await connection.run(
    `UPDATE offers SET first_seen_at = seen.valid_from FROM ${firstSeenBack} AS seen WHERE offers.offer_id = seen.offer_id`,
  );
  await connection.run(
    `UPDATE offer_versions SET valid_from = moved.valid_from FROM ${movedBack} AS moved
     WHERE offer_versions.offer_id = moved.offer_id AND offer_versions.version = moved.version`,
  );
  // A record's version depends on these dates.
  await connection.run('DELETE FROM offer_records WHERE offer_id IN (SELECT offer_id FROM first_seen_back)');
  await db.updateTable('offer_versions').set({ updated_at: present }).where('updated_at', '>', present).execute();
  const [earliest] = await queryRows<{ since: Moment | null }>(
    connection,
    `SELECT min(valid_from) AS since FROM ${movedBack}`,
  );
  return earliest?.since ?? null;
}

/** Facts that became known ahead of the clock, and conversions with another price, count as known from now on. */
async function repairKnown({ connection, db }: StateDatabase, present: Moment, since: Moment | null): Promise<void> {
  await markDaysOfConversions(
    connection,
    `SELECT conversion_id FROM conversion_events LEFT JOIN conversion_clicks AS click USING (click_id)
     WHERE greatest(conversion_events.known_at, click.known_at) > TIMESTAMPTZ '${present}'`,
  );
  await db
    .updateTable('conversion_events')
    .set({ known_at: present })
    .where((event) =>
      event.or([event('known_at', '>', present), ...(since === null ? [] : [event('occurred_at', '>=', since)])]),
    )
    .execute();
  await db.updateTable('conversion_clicks').set({ known_at: present }).where('known_at', '>', present).execute();
}

async function repairTerms({ connection, db }: StateDatabase, present: Moment): Promise<void> {
  const clock = `TIMESTAMPTZ '${present}'`;
  const terms = await queryRows<{
    site_key: string;
    valid_from: Moment;
    commission: string;
    commissions: string;
    offers: string;
    reward_rate: string | null;
  }>(
    connection,
    `SELECT site_key, ${inOrder(`least(valid_from, ${clock})`, 'site_key', 'number')} AS valid_from, commission, commissions, offers, reward_rate
     FROM (SELECT *, valid_from > ${clock} AS is_ahead, row_number() OVER (PARTITION BY site_key ORDER BY valid_from) AS number FROM site_terms)
     QUALIFY is_ahead`,
  );
  await connection.run(
    `UPDATE capped_offers SET capped_at = least(capped_at, ${clock}), uncapped_at = CASE WHEN uncapped_at IS NOT NULL THEN least(uncapped_at, ${clock}) END
     WHERE greatest(capped_at, uncapped_at) > ${clock}`,
  );
  await db.deleteFrom('site_terms').where('valid_from', '>', present).execute();
  if (terms.length > 0) await db.insertInto('site_terms').values(terms).execute();
}

/**
 * Returns SQL for a moment that is at least a microsecond after that of the row before. Moments less their row's number
 * must never fall, so the greatest so far is taken.
 */
function inOrder(moment: string, of: string, number: string): string {
  return `make_timestamptz(max(epoch_us(${moment}) - ${number}) OVER (PARTITION BY ${of} ORDER BY ${number}) + ${number})`;
}
