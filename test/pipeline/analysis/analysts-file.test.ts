import { DuckDBInstance } from '@duckdb/node-api';
import { cpSync, readdirSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { generate } from '../../../src/demo/generate/generate.ts';
import { publishedAmountText, publishedAmount } from '../../../src/serve/offers/money.ts';
import { decimalOf } from '../../../src/kit/text/decimal-text.ts';
import { analyticsTables, analyticsViews } from '../../../src/pipeline/snapshot/content/published-tables.ts';
import { modelQuery } from '../../../src/pipeline/sql/model-query.ts';
import { modelNames } from '../../../src/pipeline/sql/sql-model.ts';
import { readAnalytics } from '../../../src/pipeline/snapshot/read-analytics.ts';
import { openStateDatabase } from '../../../src/pipeline/warehouse/database.ts';
import { queryRows, type QueryRow } from '../../../src/kit/duckdb/dialect/rows.ts';
import { PipelineUnderTest } from '../../support/pipeline-under-test.ts';

/** As-of of the snapshot; some ingested events are later. */
const end = new Date('2026-03-10T15:00:00Z');
const asOf = '2026-03-10T13:37:00Z';

let pipeline: PipelineUnderTest;
beforeAll(async () => {
  pipeline = await PipelineUnderTest.bare(end);
  await generate({ out: pipeline.data.root, seed: 22, clicks: 1500, days: 4, end, offers: 30, messy: true });
  await pipeline.refresh(asOf);
});
afterAll(() => pipeline[Symbol.asyncDispose]());

describe('metrics', () => {
  const keys = ['offer_id', 'as_of'];

  it('explains every figure, and its SQL gives the served one for every offer', async () => {
    const metrics = await pipeline.ask<{ metric: string; served_as: string; sql: string }>(
      `FROM metrics WHERE served_as LIKE 'offer_stats_2d.%'`,
    );
    const figures = await pipeline.ask<{ name: string }>(
      `SELECT column_name AS name FROM duckdb_columns() WHERE table_name = 'offer_stats_2d' ORDER BY name`,
    );
    expect(metrics.map(({ metric }) => metric)).toEqual(
      figures.map(({ name }) => name).filter((name) => !keys.includes(name)),
    );

    const served = await pipeline.ask('FROM offer_stats_2d ORDER BY offer_id');
    expect(served.length).toBeGreaterThan(20);
    for (const { metric, sql } of metrics) {
      const anew = new Map((await pipeline.ask(sql)).map((row) => [row['offer_id'], row]));
      expect(
        served.map((row) => anew.get(row['offer_id'])),
        metric,
      ).toEqual(served.map((row) => ({ offer_id: row['offer_id'], [metric]: row[metric] })));
      // Offers without a row of figures have none, so nothing is left out there.
      const others = [...anew.values()]
        .filter(({ offer_id }) => !served.some((row) => row['offer_id'] === offer_id))
        .map((row) => row[metric]);
      expect(
        others.filter((value) => ![0, '0.000000', 'stable', null].includes(value as never)),
        metric,
      ).toEqual([]);
    }
  });

  it('gives what publishers see, as the service computes it', async () => {
    const metrics = await pipeline.ask<{ metric: string; sql: string }>(
      `FROM metrics WHERE served_as NOT LIKE 'offer_stats_2d.%' ORDER BY metric`,
    );
    expect(metrics.map(({ metric }) => metric)).toEqual(['published_epc', 'published_payout']);
    const gross = await pipeline.ask(
      `SELECT site_key, offers.offer_id, payout AS published_payout, coalesce(epc, 0) AS published_epc, commission::VARCHAR AS commission
       FROM offers CROSS JOIN sites LEFT JOIN offer_stats_2d AS figures ON figures.offer_id = offers.offer_id WHERE offers.status = 'active'`,
    );
    expect(new Set(gross.map(({ commission }) => commission)).size).toBeGreaterThan(1);
    const keyOf = ({ site_key, offer_id }: QueryRow) => `${site_key as string} ${offer_id as number}`;
    for (const { metric, sql } of metrics) {
      const expected = gross.map((row) => [
        keyOf(row),
        publishedAmountText(publishedAmount(decimalOf(row[metric] as string), decimalOf(row['commission'] as string))),
      ]);
      const given = (await pipeline.ask(sql)).map((row) => [keyOf(row), (row[metric] as string).replace(/\.?0+$/, '')]);
      expect(new Map(given as [string, string][])).toEqual(new Map(expected as [string, string][]));
    }
  });
});

describe('figures_explained', () => {
  const sums = (call: string) => `
    SELECT count(*) FILTER (in_clicks) AS clicks, count(*) FILTER (in_conversions) AS conversions,
      count(DISTINCT click_id) FILTER (in_conversions) AS converted_clicks,
      coalesce(sum(payout) FILTER (in_conversions), 0)::DECIMAL(24, 6) AS earnings,
      count(*) FILTER (in_conversions_24h) AS conversions_24h, count(*) FILTER (in_conversions_prior_24h) AS conversions_prior_24h
    FROM ${call}`;
  const served =
    'SELECT offer_id, clicks, conversions, converted_clicks, earnings, conversions_24h, conversions_prior_24h FROM offer_stats_2d ORDER BY offer_id';

  it('adds up to the figures of every offer, in the file opened by itself', async () => {
    await readAnalytics(pipeline.data.current, async (query) => {
      const rows = await query(served);
      expect(rows.length).toBeGreaterThan(20);
      for (const { offer_id, ...figures } of rows) {
        expect(await query(sums(`figures_explained(${offer_id as number})`)), `offer ${offer_id as number}`).toEqual([
          figures,
        ]);
      }
    });
  });

  it('does the same where the file is attached under another name, whatever the session thinks the time zone is', async () => {
    const instance = await DuckDBInstance.create(':memory:');
    const connection = await instance.connect();
    try {
      await connection.run("SET TimeZone = 'America/Los_Angeles'");
      await connection.run(`ATTACH '${join(pipeline.data.current, 'analytics.duckdb')}' AS network (READ_ONLY)`);
      const rows = await pipeline.ask(served);
      expect(rows.length).toBeGreaterThan(20);
      for (const { offer_id, ...figures } of rows) {
        expect(
          await queryRows(connection, sums(`network.figures_explained(${offer_id as number})`)),
          `offer ${offer_id as number}`,
        ).toEqual([figures]);
      }
    } finally {
      connection.closeSync();
      instance.closeSync();
    }
  });

  it('shows conversions that were taken back, and counts them nowhere', async () => {
    const [row] = await pipeline.ask<{ offer_id: number; conversion_id: string }>(
      `SELECT offer_id, conversion_id FROM conversions WHERE status IN ('rejected', 'charged_back') AND credited_at >= TIMESTAMPTZ '2026-03-09T00:00:00Z' LIMIT 1`,
    );
    expect(
      await pipeline.ask(
        `SELECT in_clicks, in_conversions, in_conversions_24h, in_conversions_prior_24h FROM figures_explained(${row?.offer_id}) WHERE conversion_id = '${row?.conversion_id}'`,
      ),
    ).toEqual([
      { in_clicks: false, in_conversions: false, in_conversions_24h: false, in_conversions_prior_24h: false },
    ]);
  });

  it('gives the newest of all rows of every offer, and the console counts them without it', async () => {
    await readAnalytics(pipeline.data.current, async (query) => {
      const offers = await query<{ offer_id: number }>('SELECT offer_id FROM offers');
      let cut = 0;
      for (const { offer_id: id } of offers) {
        const all = await query(`FROM figures_explained(${id})`);
        const newest = await query(`FROM figures_explained(${id}, newest := 7)`);
        expect(newest, `offer ${id}`).toEqual(all.slice(0, 7));
        if (newest.length < all.length) cut++;
        const counted = modelQuery('console', 'offer_explained_rows', { as_of: asOf, offer_id: String(id) });
        expect(await query(counted), `offer ${id}`).toEqual([{ of_rows: all.length }]);
      }
      expect(cut).toBeGreaterThan(10);
    });
  });
});

describe('figures_by_site', () => {
  it('is what figures_explained adds up to by site, quotients too, of every offer', async () => {
    await readAnalytics(pipeline.data.current, async (query) => {
      const offers = await query<{ offer_id: number; clicks: number }>('SELECT offer_id, clicks FROM offer_stats_2d');
      for (const { offer_id: id, clicks } of offers) {
        const bySite = await query<{ clicks: number }>(
          `SELECT * EXCLUDE (offer_id) FROM figures_by_site() WHERE offer_id = ${id} ORDER BY site_key`,
        );
        const explained = await query(
          `SELECT *, if(clicks = 0, 0, round(earnings / clicks, 6))::DECIMAL(24, 6) AS epc, if(clicks = 0, 0, round(converted_clicks / clicks, 6))::DECIMAL(24, 6) AS cvr
           FROM (SELECT site_key, count(*) FILTER (in_clicks) AS clicks, count(*) FILTER (in_conversions) AS conversions,
               count(DISTINCT click_id) FILTER (in_conversions) AS converted_clicks, coalesce(sum(payout) FILTER (in_conversions), 0)::DECIMAL(24, 6) AS earnings
             FROM figures_explained(${id}) GROUP BY site_key HAVING count(*) FILTER (in_clicks OR in_conversions) > 0) ORDER BY site_key`,
        );
        expect(bySite, `offer ${id}`).toEqual(explained);
        expect(bySite.reduce((sum, site) => sum + site.clicks, 0)).toBe(clicks);
      }
      expect(offers.length).toBeGreaterThan(20);
      expect(await query('FROM figures_by_site() WHERE offer_id = 2147483647')).toEqual([]);
    });
  });
});

it('postbacks_by_site says of each site what its postbacks add up to', async () => {
  const [all, bySite] = await readAnalytics(pipeline.data.current, async (query) => [
    await query(`SELECT site_key, count(*) FILTER (state IN ('pending', 'delivering')) AS waiting, count(*) FILTER (state = 'dead') AS dead
                 FROM postbacks GROUP BY site_key HAVING waiting + dead > 0 ORDER BY site_key`),
    await query<{ waiting: number; dead: number }>('SELECT site_key, waiting, dead FROM postbacks_by_site()'),
  ]);
  expect(all.length).toBeGreaterThan(1);
  expect(bySite.filter(({ waiting, dead }) => waiting + dead > 0)).toEqual(all);
});

/** `days` has all of the history, where it is given. */
describe.each(['', 'days := 400', 'days := 1'])('breakdowns of (%s)', (days) => {
  const first = days === 'days := 1' ? '2026-03-10' : '2026-01-01';
  const sums = 'sum(clicks)::BIGINT AS clicks, sum(conversions)::BIGINT AS conversions, sum(earnings) AS earnings';

  it('by country and device add up to offer_daily', async () => {
    const mart = `SELECT day, offer_id, ${sums}, sum(converted_clicks)::BIGINT AS converted_clicks FROM offer_daily WHERE day >= DATE '${first}' GROUP BY ALL ORDER BY ALL`;
    const rows = await pipeline.ask(mart.replace('FROM offer_daily', `FROM figures_by_country(${days})`));
    expect(rows).toEqual(await pipeline.ask(mart));
    expect(rows.length).toBeGreaterThan(20);
    const [kinds] = await pipeline.ask<{ countries: number; devices: number }>(
      `SELECT count(DISTINCT country) AS countries, count(DISTINCT device) AS devices FROM figures_by_country(${days}) WHERE conversions > 0`,
    );
    expect(kinds?.countries).toBeGreaterThan(1);
    expect(kinds?.devices).toBeGreaterThan(1);
  });

  it('by the day of clicks are what became of these clicks', async () => {
    const [cohorts, figures] = [
      `SELECT day, offer_id, clicks, conversions, converted_clicks, earnings, reversed FROM figures_by_click_day(${days})`,
      `WITH converted AS (
         SELECT click_id, count(*) FILTER (status = 'credited') AS conversions, sum(payout) FILTER (status = 'credited') AS earnings,
           count(*) FILTER (status IN ('rejected', 'charged_back')) AS reversed
         FROM conversions GROUP BY click_id)
       SELECT clicked_at::DATE AS day, offer_id, count(*) FILTER (clicked_at <= TIMESTAMPTZ '${asOf}') AS clicks,
         coalesce(sum(conversions), 0)::BIGINT AS conversions, count(*) FILTER (conversions > 0) AS converted_clicks,
         coalesce(sum(earnings), 0)::DECIMAL(24, 6) AS earnings, coalesce(sum(reversed), 0)::BIGINT AS reversed
       FROM clicks LEFT JOIN converted USING (click_id) WHERE offer_id IN (SELECT offer_id FROM offers) AND clicked_at::DATE >= DATE '${first}'
       GROUP BY ALL HAVING clicks + conversions + reversed > 0 ORDER BY day, offer_id`,
    ];
    const rows = await pipeline.ask<{ conversions: number }>(cohorts);
    expect(rows).toEqual(await pipeline.ask(figures));
    const [all] = await pipeline.ask<{ conversions: number }>(
      `SELECT count(*) AS conversions FROM conversions WHERE status = 'credited' AND clicked_at::DATE >= DATE '${first}'`,
    );
    expect(rows.reduce((sum, { conversions }) => sum + conversions, 0)).toBe(all?.conversions);
  });

  it('of reversals have what stays credited as site_daily does, and all that was taken back', async () => {
    const [bySite, mart] = [
      `SELECT day, site_key, sum(conversions)::BIGINT AS conversions, sum(earnings) AS earnings FROM reversals_by_source(${days})
       GROUP BY ALL HAVING sum(conversions) > 0 ORDER BY ALL`,
      `SELECT day, site_key, conversions, gross_earnings AS earnings FROM site_daily WHERE conversions > 0 AND day >= DATE '${first}' ORDER BY ALL`,
    ];
    expect(await pipeline.ask(bySite)).toEqual(await pipeline.ask(mart));
    const [reversed, all] = [
      `SELECT sum(rejected)::BIGINT AS rejected, sum(rejected_payout) AS rejected_payout, sum(charged_back)::BIGINT AS charged_back,
         sum(charged_back_payout) AS charged_back_payout, max(chargeback_rate) <= 1 AS is_ratio FROM reversals_by_source(${days})`,
      `SELECT count(*) FILTER (status = 'rejected') AS rejected, coalesce(sum(payout) FILTER (status = 'rejected'), 0) AS rejected_payout,
         count(*) FILTER (status = 'charged_back') AS charged_back, coalesce(sum(payout) FILTER (status = 'charged_back'), 0) AS charged_back_payout,
         true AS is_ratio FROM conversions WHERE status <> 'unattributed' AND occurred_at::DATE >= DATE '${first}'`,
    ];
    expect(await pipeline.ask(reversed)).toEqual(await pipeline.ask(all));
  });
});

it('breakdowns have UTC days, whatever the session thinks the time zone is', async () => {
  const database = await DuckDBInstance.create(join(pipeline.data.current, 'analytics.duckdb'), {
    access_mode: 'READ_ONLY',
  });
  const connection = await database.connect();
  try {
    for (const call of ['figures_by_country(days := 2)', 'figures_by_click_day(2)', 'reversals_by_source()']) {
      const digest = `SELECT md5(string_agg(t::VARCHAR, '|' ORDER BY t::VARCHAR)) AS digest FROM ${call} AS t`;
      await connection.run("SET TimeZone = 'America/Los_Angeles'");
      expect(await queryRows(connection, digest), call).toEqual(await pipeline.ask(digest));
    }
  } finally {
    connection.closeSync();
    database.closeSync();
  }
});

it('breakdowns of one day open no file of another', async () => {
  const copy = join(pipeline.data.root, 'copy');
  cpSync(realpathSync(pipeline.data.current), copy, { recursive: true });
  for (const folder of ['events/clicks', 'marts/conversions'].map((name) => join(copy, name)))
    // The first file of a list says which columns all have; the day that as-of cuts is a list of its own.
    for (const name of readdirSync(folder).toSorted().slice(1))
      if (!/^2026-03-(09|10)/.test(name)) writeFileSync(join(folder, name), 'no Parquet file');
  const instance = await DuckDBInstance.create(join(copy, 'analytics.duckdb'), { access_mode: 'READ_ONLY' });
  const connection = await instance.connect();
  try {
    await connection.run(`SET VARIABLE offerline = '${copy}'`);
    for (const name of ['figures_by_country', 'reversals_by_source']) {
      const ofDay = `SELECT sum(conversions)::BIGINT AS conversions, sum(earnings) AS earnings FROM ${name}() WHERE day = DATE '2026-03-09'`;
      expect(await queryRows(connection, ofDay), name).toEqual(await pipeline.ask(ofDay));
      await expect(queryRows(connection, `FROM ${name}()`), name).rejects.toThrow(/No magic bytes|too small/i);
    }
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
});

describe('comments', () => {
  it('give the meaning of every column, the unit of money and sizes, the zone of times', async () => {
    const columns = await pipeline.ask<{
      table_name: string;
      column_name: string;
      data_type: string;
      comment: string | null;
    }>(`SELECT table_name, column_name, data_type, comment FROM duckdb_columns() WHERE NOT internal ORDER BY ALL`);
    expect(columns.length).toBeGreaterThan(100);
    expect(
      columns.flatMap(({ table_name, column_name, data_type, comment }) =>
        commentMistakes(column_name, data_type, comment ?? '').map(
          (mistake) => `${table_name}.${column_name}: ${mistake}: ${comment}`,
        ),
      ),
    ).toEqual([]);
  });

  it('give the meaning and the grain of every table, view and function', async () => {
    const tables = await pipeline.ask<{ name: string; comment: string | null }>(
      `SELECT table_name AS name, comment FROM duckdb_tables() UNION ALL SELECT view_name, comment FROM duckdb_views() WHERE NOT internal
       UNION ALL SELECT function_name, comment FROM duckdb_functions() WHERE NOT internal ORDER BY name`,
    );
    expect(tables.map(({ name }) => name)).toEqual(
      [...analyticsTables, ...analyticsViews, ...modelNames('macros')].toSorted(),
    );
    expect(tables.filter(({ comment }) => !/^[A-Z].{15,}\. Grain: one row per .+\.$/.test(comment ?? ''))).toEqual([]);
  });

  it('would be found out', () => {
    expect(commentMistakes('clicked_at', 'TIMESTAMP WITH TIME ZONE', 'When the user clicked')).toHaveLength(1);
    expect(commentMistakes('report_date', 'DATE', 'The day that it is about')).toHaveLength(1);
    expect(commentMistakes('payout', 'DECIMAL(15,6)', 'What it pays')).toHaveLength(1);
    expect(commentMistakes('bytes', 'BIGINT', 'How large it is')).toHaveLength(1);
    expect(commentMistakes('site_key', 'VARCHAR', 'The site key')).toHaveLength(1);
    expect(commentMistakes('site_key', 'VARCHAR', '')).toHaveLength(1);
    expect(commentMistakes('payout', 'DECIMAL(15,6)', 'Gross USD')).toEqual([]);
  });
});

/** Returns what a column's comment lacks. */
function commentMistakes(name: string, type: string, comment: string): string[] {
  const words = comment.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  const own = new Set([...name.split('_'), 'the', 'a', 'an', 'of']);
  if (words.every((word) => own.has(word))) return ['says no more than its name'];
  if (/TIME|DATE/.test(type) && !/UTC|as.of/.test(comment)) return ['gives no zone'];
  if (type.startsWith('DECIMAL') && !/USD|ratio|share|points/.test(comment)) return ['gives no unit'];
  if (/bytes|milliseconds|seconds/.test(name) && !/byte|second/i.test(comment)) return ['gives no unit'];
  return [];
}

describe('lineage', () => {
  it('leads from every table to what came in, and names nothing that nobody knows', async () => {
    const state = await openStateDatabase(pipeline.data, { duckdb: {} });
    const warehouse = await queryRows<{ name: string }>(
      state.connection,
      'SELECT table_name AS name FROM duckdb_tables() WHERE NOT temporary',
    );
    await state.close();
    const edges = await pipeline.ask<Record<'table_name' | 'layer' | 'input' | 'input_layer', string>>('FROM lineage');
    const computed = new Set(edges.map(({ table_name, layer }) => `${layer} ${table_name}`));
    expect([...analyticsTables, ...analyticsViews].filter((name) => !computed.has(`mart ${name}`))).toEqual([]);
    const given = new Set([
      ...computed,
      ...warehouse.map(({ name }) => `warehouse ${name}`),
      'landing landing/clicks',
      'landing sites.json',
      'code sql',
      'code sql/metrics',
      'code manifest.json',
    ]);
    expect(edges.filter(({ input, input_layer }) => !given.has(`${input_layer} ${input}`))).toEqual([]);
  });

  it('shows what an EPC is made of', async () => {
    const inputs = await pipeline.ask(
      `WITH RECURSIVE behind AS (
         SELECT input, input_layer FROM lineage WHERE layer = 'mart' AND table_name = 'offer_stats_2d'
         UNION SELECT lineage.input, lineage.input_layer FROM lineage JOIN behind ON behind.input = lineage.table_name AND behind.input_layer = lineage.layer)
       SELECT DISTINCT input FROM behind WHERE input_layer IN ('warehouse', 'landing') ORDER BY input`,
    );
    expect(inputs.map(({ input }) => input)).toEqual([
      'click_hourly',
      'conversion_clicks',
      'conversion_events',
      'landing/clicks',
      'offer_version_events',
      'offer_versions',
      'offers',
    ]);
  });
});

it('ingest_warnings are the warnings that ingest_files counts', async () => {
  const counted = await pipeline.ask(
    `SELECT files.file_id, warnings, coalesce(listed, 0)::BIGINT AS listed FROM ingest_files AS files
     LEFT JOIN (SELECT file_id, sum(CASE WHEN warning = 'unknown_field' THEN 1 ELSE rows END) AS listed FROM ingest_warnings GROUP BY file_id) AS w ON w.file_id = files.file_id
     WHERE warnings > 0 OR listed > 0`,
  );
  expect(counted.length).toBeGreaterThan(0);
  expect(counted.filter(({ warnings, listed }) => warnings !== listed)).toEqual([]);
});
