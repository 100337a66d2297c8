import type { DuckDBConnection } from '@duckdb/node-api';
import { join } from 'node:path';
import { makeTempTable, type TempTable } from '../../../kit/duckdb/temp-table.ts';
import { queryRows } from '../../../kit/duckdb/dialect/rows.ts';
import { quotedPathList } from '../../../kit/text/sql-text.ts';
import { dayOf, type Moment } from '../../../kit/time/moment.ts';
import type { Run } from '../../runs/stage.ts';
import { makeRunInput } from '../../sql/run-inputs.ts';
import { modelQuery } from '../../sql/model-query.ts';

/**
 * Records which offers have reached a daily cap as of the run's as-of, so that feeds hide them, and which of those
 * before have not; without `hide_capped_offers` none has. A change counts `from` a moment on, or a microsecond after
 * the one before where that is not earlier. In the caller's transaction.
 */
export async function recordCappedOffers(run: Run, from: Moment, connection: DuckDBConnection): Promise<void> {
  const at = `greatest(TIMESTAMPTZ '${from}', coalesce(uncapped_at, capped_at) + INTERVAL 1 MICROSECOND)`;
  if (!run.settings.hide_capped_offers) {
    await connection.run(`UPDATE capped_offers SET uncapped_at = ${at} WHERE uncapped_at IS NULL`);
    return;
  }
  const capped = await cappedNow(run, connection);
  await connection.run(
    `UPDATE capped_offers SET uncapped_at = ${at}
     WHERE uncapped_at IS NULL AND offer_id NOT IN (SELECT offer_id FROM ${capped})`,
  );
  await connection.run(
    `UPDATE capped_offers SET capped_at = ${at}, uncapped_at = NULL
     WHERE uncapped_at IS NOT NULL AND offer_id IN (SELECT offer_id FROM ${capped})`,
  );
  await connection.run(
    `INSERT INTO capped_offers SELECT offer_id, TIMESTAMPTZ '${from}', NULL FROM ${capped}
     WHERE offer_id NOT IN (SELECT offer_id FROM capped_offers)`,
  );
}

async function cappedNow({ data, asOf }: Run, connection: DuckDBConnection): Promise<TempTable<'capped_now'>> {
  const files = await queryRows<{ path: string }>(
    connection,
    `SELECT path FROM mart_files WHERE mart = 'offer_daily' AND day = DATE '${dayOf(asOf)}'`,
  );
  const today = await makeRunInput(connection, 'offers_today');
  const paths = quotedPathList(files.map(({ path }) => join(data.warehouse, path)));
  if (files.length > 0)
    await connection.run(
      `INSERT INTO ${today} SELECT offer_id, clicks, converted_clicks FROM read_parquet(${paths}, hive_partitioning = false)`,
    );
  return makeTempTable(connection, 'capped_now', modelQuery('staging', 'capped_as_of', { as_of: asOf }));
}
