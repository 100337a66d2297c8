import { DuckDBInstance } from '@duckdb/node-api';
import { expect, it, onTestFinished } from 'vitest';
import { queryRows } from '../../../src/kit/duckdb/dialect/rows.ts';
import { modelQuery } from '../../../src/pipeline/sql/model-query.ts';

it('lags are rounded to the millisecond, however the percentile falls between two', async () => {
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  onTestFinished(() => connection.closeSync());
  await connection.run(`CREATE SCHEMA snapshot;
    CREATE TABLE snapshot.postbacks AS
    SELECT 's' AS site_key, 'delivered' AS state, TIMESTAMPTZ '2026-03-10 10:00:00Z' AS enqueued_at,
      enqueued_at + to_milliseconds(delay) AS delivered_at
    FROM (VALUES (1003), (5664), (77)) AS delays (delay);
    -- What is not delivered has no lag.
    INSERT INTO snapshot.postbacks SELECT 's', 'pending', TIMESTAMPTZ '2026-03-10 10:00:00Z', NULL FROM range(9);
    CREATE TABLE snapshot.postback_attempts AS SELECT NULL::VARCHAR AS error;
    CREATE VIEW postbacks AS FROM snapshot.postbacks`);
  const parameters = { window_start: '2026-03-09T00:00:00Z' };
  for (const query of [
    modelQuery('macros', 'postbacks_by_site', parameters),
    modelQuery('marts', 'delivery_summary', parameters),
  ])
    // Exactly 5197.9 ms.
    expect(await queryRows(connection, query)).toMatchObject([{ lag_seconds_p95: 5.198 }]);
  await connection.run(`DELETE FROM snapshot.postbacks WHERE state = 'delivered'`);
  expect(await queryRows(connection, modelQuery('macros', 'postbacks_by_site', parameters))).toMatchObject([
    { waiting: 9, lag_seconds_p95: null },
  ]);
});
