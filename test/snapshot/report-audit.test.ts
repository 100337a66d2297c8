import { expect, it } from 'vitest';
import { readModel } from '../../src/warehouse/sql-model.ts';
import { LogLanding } from '../support/log-landing.ts';

it('finds reports of this snapshot with a figure that cannot be, or with an offer twice, and looks at no others', async () => {
  await using landing = await LogLanding.create();
  await landing.query(`ATTACH ':memory:' AS snapshot`);
  const good =
    'clicks, 1 AS conversions, 1 AS converted_clicks, 1 AS earnings, 1 AS epc, 1 AS cvr, 1 AS conversions_24h, 0 AS conversions_prior_24h';
  await landing.query(
    `CREATE TABLE snapshot.report_daily AS
     SELECT report_date::DATE AS report_date, offer_id, ${good}, 'up' AS trend FROM (VALUES
       ('2026-11-01', 1, -1), ('2026-11-02', 1, 5), ('2026-11-02', 2, NULL), ('2026-11-03', 3, 1), ('2026-11-03', 3, 1)) AS rows (report_date, offer_id, clicks)`,
  );
  await landing.query(
    `CREATE TEMP TABLE audited_reports AS SELECT unnest(['2026-11-02'::DATE, '2026-11-03'::DATE]) AS day`,
  );
  const { query } = readModel('audits', 'reports_are_whole');
  expect(await landing.query(`${query} ORDER BY report_date`)).toEqual([
    { report_date: '2026-11-02', offer_id: 2, rows: 1 },
    { report_date: '2026-11-03', offer_id: 3, rows: 2 },
  ]);
});
