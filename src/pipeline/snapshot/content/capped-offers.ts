import { join } from 'node:path';
import { makeTempTable } from '../../../kit/duckdb/temp-table.ts';
import { queryRows } from '../../../kit/duckdb/dialect/rows.ts';
import { quotedPathList } from '../../../kit/text/sql-text.ts';
import { dayOf } from '../../../kit/time/moment.ts';
import type { Run } from '../../runs/stage.ts';
import { makeRunInput } from '../../sql/run-inputs.ts';
import { modelQuery } from '../../sql/model-query.ts';
import type { StateDatabase } from '../../warehouse/database.ts';

/**
 * Records which offers have reached a daily cap as of the run's as-of, so that feeds hide them, and which of those
 * before have not; without `hide_capped_offers` none has. A change counts from as-of on, or a microsecond after the one
 * before where as-of is not later.
 */
export async function recordCappedOffers({ data, settings, asOf }: Run, state: StateDatabase): Promise<void> {
  const { connection } = state;
  await state.transaction(async () => {
    const files = settings.hide_capped_offers
      ? await queryRows<{ path: string }>(
          connection,
          `SELECT path FROM mart_files WHERE mart = 'offer_daily' AND day = DATE '${dayOf(asOf)}'`,
        )
      : [];
    const today = await makeRunInput(connection, 'offers_today');
    const paths = quotedPathList(files.map(({ path }) => join(data.warehouse, path)));
    if (files.length > 0)
      await connection.run(
        `INSERT INTO ${today} SELECT offer_id, clicks, converted_clicks FROM read_parquet(${paths}, hive_partitioning = false)`,
      );
    const capped = await makeTempTable(
      connection,
      'capped_now',
      settings.hide_capped_offers
        ? modelQuery('staging', 'capped_as_of', { as_of: asOf })
        : 'SELECT NULL::INTEGER AS offer_id WHERE false',
    );
    const at = `greatest(TIMESTAMPTZ '${asOf}', coalesce(uncapped_at, capped_at) + INTERVAL 1 MICROSECOND)`;
    await connection.run(
      `UPDATE capped_offers SET uncapped_at = ${at}
       WHERE uncapped_at IS NULL AND offer_id NOT IN (SELECT offer_id FROM ${capped})`,
    );
    await connection.run(
      `UPDATE capped_offers SET capped_at = ${at}, uncapped_at = NULL
       WHERE uncapped_at IS NOT NULL AND offer_id IN (SELECT offer_id FROM ${capped})`,
    );
    await connection.run(
      `INSERT INTO capped_offers SELECT offer_id, TIMESTAMPTZ '${asOf}', NULL FROM ${capped}
       WHERE offer_id NOT IN (SELECT offer_id FROM capped_offers)`,
    );
  }, 'capped offers');
}
