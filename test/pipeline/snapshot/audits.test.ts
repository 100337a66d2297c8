import type { DuckDBConnection } from '@duckdb/node-api';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { queryRows } from '../../../src/kit/duckdb/dialect/rows.ts';
import { generate } from '../../../src/demo/generate/generate.ts';
import { dayMarts } from '../../../src/pipeline/models/day-marts.ts';
import { writeExplained } from '../../../src/pipeline/snapshot/content/explained.ts';
import { openAudited, type Audited } from '../../../src/pipeline/snapshot/content/audited.ts';
import { snapshotAudits } from '../../../src/pipeline/snapshot/content/audits.ts';
import { linkedFiles } from '../../../src/pipeline/snapshot/layout.ts';
import { analyticsFile } from '../../../src/pipeline/snapshot/manifest.ts';
import { analyticsTables, analyticsViews } from '../../../src/pipeline/snapshot/content/published-tables.ts';
import { modelQuery } from '../../../src/pipeline/sql/model-query.ts';
import { readModel } from '../../../src/pipeline/sql/sql-model.ts';
import { openStateDatabase, type StateDatabase } from '../../../src/pipeline/warehouse/database.ts';
import { PipelineUnderTest } from '../../support/pipeline-under-test.ts';

const asOf = '2026-03-10T13:37:00Z';
const end = new Date(asOf);

/**
 * A published snapshot, attached to the state that it was made of as while it is built: its tables are copies, to be
 * damaged.
 */
let pipeline: PipelineUnderTest;
let state: StateDatabase;
let connection: DuckDBConnection;
let audited: Audited;
let parquet: (group: string) => string[];
beforeAll(async () => {
  pipeline = await PipelineUnderTest.bare(end);
  await generate({ out: pipeline.data.root, seed: 23, clicks: 1500, days: 3, end, offers: 30, messy: true });
  await pipeline.refresh(asOf);
  state = await openStateDatabase(pipeline.data, { duckdb: { threads: 1 } });
  ({ connection } = state);
  const files = await linkedFiles(connection, pipeline.data, asOf);
  const folder = `${pipeline.data.current}/`;
  parquet = (group) => files.filter((file) => file.group === group).map(({ path }) => folder + path);
  await connection.run(`ATTACH '${folder}${analyticsFile}' AS published (READ_ONLY); ATTACH ':memory:' AS snapshot`);
  for (const table of analyticsTables)
    await connection.run(`CREATE TABLE snapshot.${table} AS FROM published.${table}`);
  // The views name the tables beside them.
  await connection.run('USE published');
  for (const view of analyticsViews) await connection.run(`CREATE TABLE snapshot.${view} AS FROM published.${view}`);
  await connection.run('USE state');
  await writeExplained(connection, pipeline.data.current, asOf, parquet);
  audited = await open();
});
afterAll(async () => {
  await state.close();
  await pipeline[Symbol.asyncDispose]();
});

/** Opens what runs wrote since that run, which published as of this moment; by default all. */
function open(runId = 0, publishedAsOf = asOf): Promise<Audited> {
  return openAudited(connection, { data: pipeline.data, asOf }, { run_id: runId, as_of: publishedAsOf }, parquet);
}

/** Names of the audits that find bad rows once the statements have run; the statements are taken back. */
async function failingAfter(...damage: string[]): Promise<string[]> {
  await connection.run('BEGIN TRANSACTION');
  try {
    for (const statement of damage) await connection.run(statement);
    const failing: string[] = [];
    for (const { name, query } of snapshotAudits(audited))
      if ((await queryRows(connection, `SELECT * FROM (${query}) LIMIT 1`)).length > 0) failing.push(name);
    return failing;
  } finally {
    await connection.run('ROLLBACK');
  }
}

/** The audited rows of a mart with a change, as a statement. */
function changed(mart: string, select: string): string {
  return `CREATE OR REPLACE TEMP VIEW audited_${mart} AS ${select} FROM (FROM published.${mart})`;
}

it('find nothing in what was published', async () => {
  expect(await failingAfter()).toEqual([]);
});

describe('the keys of the headers', () => {
  const keysQuery = () => snapshotAudits(audited).find(({ name }) => name === 'keys_are_unique')?.query ?? '';
  const repeated = () => queryRows<{ table_name: string }>(connection, keysQuery());

  it.each(analyticsTables)('hold in %s: a row with the key of another is found', async (table) => {
    await connection.run('BEGIN TRANSACTION');
    try {
      // Without a row, two of nothing are equal as well.
      await connection.run(`INSERT INTO snapshot.${table} SELECT * FROM (FROM snapshot.${table} LIMIT 1)`);
      await connection.run(
        `INSERT INTO snapshot.${table} SELECT t.* FROM range(2) LEFT JOIN snapshot.${table} AS t ON false`,
      );
      expect((await repeated()).map(({ table_name }) => table_name)).toContain(table);
      expect(new Set((await repeated()).map(({ table_name }) => table_name))).toEqual(new Set([table]));
    } finally {
      await connection.run('ROLLBACK');
    }
  });

  it.each(dayMarts)('hold in %s: a row with the key of another is found', async (view) => {
    const { key } = readModel('marts', view);
    const keys = `SELECT ${key.join(', ')} FROM published.${view}`;
    await connection.run('BEGIN TRANSACTION');
    try {
      await connection.run('USE published');
      await connection.run(`CREATE TEMP TABLE keys_of_${view} AS ${keys}`);
      await connection.run('USE state');
      await connection.run(
        `INSERT INTO keys_of_${view} SELECT t.* FROM range(2) LEFT JOIN keys_of_${view} AS t ON false`,
      );
      await connection.run(`CREATE OR REPLACE TEMP VIEW audited_${view} AS FROM keys_of_${view}`);
      expect((await repeated()).map(({ table_name }) => table_name)).toEqual([view]);
    } finally {
      await connection.run('ROLLBACK');
    }
  });

  it('hold in clicks: those of a second event file that the run wrote are found', async () => {
    const [file] = await queryRows<{ path: string }>(
      connection,
      `SELECT path FROM event_files WHERE kind = 'clicks' ORDER BY path LIMIT 1`,
    );
    const path = file?.path ?? '';
    const copy = path.replace('.parquet', '-copy.parquet');
    await copyFile(join(pipeline.data.warehouse, path), join(pipeline.data.warehouse, copy));
    await connection.run('BEGIN TRANSACTION');
    try {
      await connection.run(
        `INSERT INTO event_files SELECT * REPLACE ('${copy}' AS path, 2 AS run_id) FROM event_files WHERE path = '${path}'`,
      );
      for (const publishedRunId of [0, 1]) {
        await open(publishedRunId);
        expect((await repeated()).map(({ table_name }) => table_name)).toContain('clicks');
      }
      await open(2);
      expect(await repeated()).toEqual([]);
    } finally {
      await connection.run('ROLLBACK');
      await open();
    }
  });
});

describe('figures', () => {
  const figures = [
    'clicks',
    'conversions',
    'converted_clicks',
    'earnings',
    'epc',
    'cvr',
    'conversions_24h',
    'conversions_prior_24h',
  ];
  const one = `offer_id = (SELECT min(offer_id) FROM snapshot.offer_stats_2d WHERE clicks > 0 AND epc > 0 AND cvr > 0)`;

  it.each([...figures, 'rank'])(
    'of today: one other %s in offer_stats_2d than in report_daily is found',
    async (figure) => {
      const failing = await failingAfter(
        `UPDATE snapshot.offer_stats_2d SET ${figure} = coalesce(${figure}, 0) + 1 WHERE ${one}`,
      );
      expect(failing).toContain('report_of_today_equals_figures');
    },
  );

  it('of today: another trend, and a row more or less, are found', async () => {
    expect(
      await failingAfter(
        `UPDATE snapshot.offer_stats_2d SET trend = CASE trend WHEN 'up' THEN 'down' ELSE 'up' END WHERE ${one}`,
      ),
    ).toEqual(['report_of_today_equals_figures']);
    for (const table of ['offer_stats_2d', 'report_daily'])
      expect(await failingAfter(`DELETE FROM snapshot.${table} WHERE ${one}`)).toContain(
        'report_of_today_equals_figures',
      );
  });

  it.each(['epc', 'cvr'])(
    'a millionth more or less of %s is found, in the figures and in any report',
    async (quotient) => {
      for (const by of ['+ 0.000001', '- 0.000001']) {
        expect(
          await failingAfter(`UPDATE snapshot.offer_stats_2d SET ${quotient} = ${quotient} ${by} WHERE ${one}`),
        ).toEqual(['quotients_follow_from_sums', 'report_of_today_equals_figures']);
        for (const mart of ['report_daily', 'offer_daily'])
          expect(
            await failingAfter(changed(mart, `SELECT * REPLACE (${quotient} ${by} AS ${quotient})`)),
            mart,
          ).toContain('quotients_follow_from_sums');
      }
    },
  );

  it.each([
    { clicks: 2, earnings: '0.000001', epc: '0.000001', wrong: '0.000000' },
    { clicks: 3, earnings: '0.000001', epc: '0.000000', wrong: '0.000001' },
    { clicks: 3, earnings: '0.000002', epc: '0.000001', wrong: '0.000000' },
    { clicks: 0, earnings: '5', epc: '0', wrong: '5' },
    { clicks: 1, earnings: '999999999999.999999', epc: '999999999999.999999', wrong: '999999999999.999998' },
  ])('$earnings on $clicks clicks is an EPC of $epc, half away from zero', async ({ clicks, earnings, epc, wrong }) => {
    const report = (value: string) =>
      changed(
        'report_daily',
        `SELECT * REPLACE (${clicks}::BIGINT AS clicks, 0::BIGINT AS converted_clicks, ${earnings} AS earnings, ${value} AS epc, 0 AS cvr)`,
      );
    expect(await failingAfter(report(epc))).not.toContain('quotients_follow_from_sums');
    expect(await failingAfter(report(wrong))).toContain('quotients_follow_from_sums');
  });

  it.each([...figures, 'trend'])('a missing %s is found, in the figures and in any report', async (figure) => {
    expect(await failingAfter(`UPDATE snapshot.offer_stats_2d SET ${figure} = NULL WHERE ${one}`)).toContain(
      'figures_are_whole',
    );
    expect(await failingAfter(changed('report_daily', `SELECT * REPLACE (NULL AS ${figure})`))).toContain(
      'figures_are_whole',
    );
  });

  it('of reports published before are not looked at again', async () => {
    await open(1);
    try {
      for (const mart of dayMarts) expect(await queryRows(connection, `FROM audited_${mart}`), mart).toEqual([]);
      expect(await queryRows(connection, 'FROM audited_clicks LIMIT 1')).toEqual([]);
    } finally {
      await open();
    }
  });
});

describe('events', () => {
  it('are what the roll-up adds up to: a click more, an hour later or under another name is found', async () => {
    for (const damage of [
      'clicks = clicks + 1',
      'hour = hour + INTERVAL 1 HOUR',
      `offer_id = 0, source = 'x', external_id = 'x'`,
    ]) {
      const statement = `UPDATE click_hourly SET ${damage} WHERE (hour, offer_id) = (SELECT (hour, offer_id) FROM click_hourly ORDER BY ALL LIMIT 1)`;
      expect(await failingAfter(statement), damage).toEqual(['roll_up_equals_events']);
    }
  });

  it('have a click and an offer behind each credited conversion', async () => {
    expect(await failingAfter('DELETE FROM conversion_clicks')).toEqual(['credited_have_click_and_offer']);
    expect(await failingAfter(changed('conversions', 'SELECT * REPLACE (NULL AS payout)'))).toEqual([
      'credited_have_click_and_offer',
      'daily_sums_equal_hourly',
    ]);
  });

  it('and clicks of conversions are there once: the marts that are made of doubled ones have doubled rows', async () => {
    const conversions = modelQuery('staging', 'conversions_as_of', { as_of: asOf });
    const madeAgain = [
      'CREATE OR REPLACE TEMP TABLE conversion_scope AS SELECT DISTINCT conversion_id FROM conversion_events',
      `CREATE OR REPLACE TEMP VIEW audited_conversions AS ${conversions}`,
    ];
    expect(await failingAfter(...madeAgain)).toEqual([]);
    for (const table of ['conversion_events', 'conversion_clicks'])
      expect(await failingAfter(`INSERT INTO ${table} FROM ${table} LIMIT 1`, ...madeAgain), table).toContain(
        'keys_are_unique',
      );
  });

  it('and rejects are as many as the ledger says', async () => {
    expect(await failingAfter('DELETE FROM rejects')).toEqual(['ledger_adds_up']);
  });
});

describe('sums by hour, day and site', () => {
  const tables = { network_hourly: 'earnings', site_daily: 'gross_earnings' };
  const marts = { offer_hourly: 'earnings', offer_daily: 'earnings', conversions: 'payout' };

  it.each(Object.entries(tables))('are found where one of %s is another', async (table, earnings) => {
    const byFunctions = table === 'site_daily' ? ['breakdowns_add_up'] : [];
    for (const figure of ['clicks', 'conversions', earnings])
      expect(
        await failingAfter(`UPDATE snapshot.${table} SET ${figure} = ${figure} + 1 WHERE rowid = 0`),
        figure,
      ).toEqual([...(figure === 'clicks' ? [] : byFunctions), 'daily_sums_equal_hourly']);
    expect(await failingAfter(`DELETE FROM snapshot.${table}`)).toEqual([...byFunctions, 'daily_sums_equal_hourly']);
  });

  it.each(Object.entries(marts))('are found where those of %s are others', async (mart, earnings) => {
    const damages = [
      `SELECT * REPLACE (${earnings} + 0.000001 AS ${earnings})`,
      ...(mart === 'conversions'
        ? [`SELECT * REPLACE ('rejected' AS status)`]
        : ['SELECT * REPLACE (clicks + 1 AS clicks)', 'SELECT * REPLACE (conversions + 1 AS conversions)']),
    ];
    for (const damage of damages)
      expect(await failingAfter(changed(mart, damage)), damage).toContain('daily_sums_equal_hourly');
  });
});

describe('breakdowns', () => {
  /** The function, with `change` made to its definition. */
  async function changedFunction(name: string, change: (definition: string) => string) {
    const [found] = await queryRows<{ macro_definition: string }>(
      connection,
      `SELECT macro_definition FROM duckdb_functions() WHERE database_name = 'snapshot' AND function_name = '${name}'`,
    );
    const definition = found?.macro_definition ?? '';
    const other = change(definition);
    expect(other).not.toBe(definition);
    return `CREATE OR REPLACE MACRO snapshot.${name}(days := 30) AS TABLE ${other}`;
  }

  /** The function, reading its file before the last one twice in place of the last one. */
  const lastFileLost = (name: string, folder: string) =>
    changedFunction(name, (definition) => {
      const files = [...new Set(definition.match(new RegExp(`${folder}/[^']+`, 'g')))].toSorted();
      return definition.replaceAll(files.at(-1) ?? '', files.at(-2) ?? '');
    });

  it.each([
    ['figures_by_country', 'events/clicks'],
    ['figures_by_country', 'marts/conversions'],
    ['reversals_by_source', 'marts/conversions'],
  ])('are found where %s reads no file of a day in %s, but one of the day before twice', async (name, folder) => {
    expect(await failingAfter(await lastFileLost(name, folder))).toEqual(['breakdowns_add_up']);
  });

  it('are of the days alone that runs wrote since the last snapshot, by country of two that are over', async () => {
    const days = async (name: string) => {
      const rows = await queryRows<{ day: string }>(
        connection,
        `SELECT DISTINCT day::VARCHAR AS day FROM audited_${name} ORDER BY day`,
      );
      return rows.map(({ day }) => day);
    };
    expect(await days('figures_by_country')).toEqual(['2026-03-08', '2026-03-09']);
    expect((await days('reversals_by_source')).length).toBeGreaterThan(2);
    await open(1);
    try {
      for (const name of ['figures_by_country', 'reversals_by_source']) expect(await days(name), name).toEqual([]);
    } finally {
      await open();
    }
  });

  it('by country are of the day of the last snapshot, too, once it is over, though no run wrote it since', async () => {
    await open(1, '2026-03-09T23:59:59Z');
    try {
      expect(await failingAfter()).toEqual([]);
      expect(await failingAfter(await lastFileLost('figures_by_country', 'events/clicks'))).toEqual([
        'breakdowns_add_up',
      ]);
    } finally {
      await open();
    }
  });
});

it('a gap in the ranks is found', async () => {
  expect(await failingAfter('UPDATE snapshot.offer_stats_2d SET rank = rank + 1 WHERE rank > 1')).toContain(
    'ranks_have_no_gaps',
  );
});

it('columns are null only where the header says so', async () => {
  for (const name of [...analyticsTables, ...analyticsViews]) {
    const { columns, nullable } = readModel('marts', name);
    const never = Object.keys(columns).filter((column) => nullable?.has(column) !== true);
    expect(never.length, name).toBeGreaterThan(0);
    const where = never.map((column) => `${column} IS NULL`).join(' OR ');
    expect(await queryRows(connection, `FROM snapshot.${name} WHERE ${where} LIMIT 1`), name).toEqual([]);
  }
});
