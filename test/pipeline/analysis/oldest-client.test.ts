import { DuckDBInstance } from '@duckdb/node-api';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { queryRows } from '../../../src/kit/duckdb/dialect/rows.ts';
import { asOf, smallData } from '../../e2e/small-data.ts';
import type { PipelineUnderTest } from '../../support/pipeline-under-test.ts';

/** 1.4.0 and 1.4.1 lose what follows WITH in a macro that they read from a file. */
const oldest = '1.4.2';
/** A Python that has `duckdb` in that version and `pytz`, where there is one: the suite installs nothing. */
const python = process.env['OFFERLINE_OLDEST_DUCKDB'];

let pipeline: PipelineUnderTest;
beforeAll(async () => {
  pipeline = await smallData();
  await pipeline.refresh(asOf);
});
afterAll(() => pipeline[Symbol.asyncDispose]());

it.each(['README.md', 'data/README.md', 'sql/README.md'])('%s names the oldest DuckDB that reads snapshots', (page) => {
  const text = readFileSync(join(import.meta.dirname, '../../..', page), 'utf8');
  expect([...text.matchAll(/DuckDB (\d+\.\d+\.\d+) or newer/g)].map(([, version]) => version)).toContain(oldest);
});

it('the file is stored in the format of DuckDB 1.0, and the Parquet files that it names in the first one', async () => {
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  onTestFinished(() => connection.closeSync());
  await connection.run(`ATTACH '${pipeline.data.current}/analytics.duckdb' AS published (READ_ONLY)`);
  expect(await queryRows(connection, `SELECT tags FROM duckdb_databases() WHERE database_name = 'published'`)).toEqual([
    { tags: [{ key: 'storage_version', value: 'v1.0.0+' }] },
  ]);
  const files = `'${await realpath(pipeline.data.current)}/**/*.parquet'`;
  expect(await queryRows(connection, `SELECT DISTINCT format_version FROM parquet_file_metadata(${files})`)).toEqual([
    { format_version: 1 },
  ]);
  expect(
    await queryRows(
      connection,
      `SELECT DISTINCT compression, unnest(string_split(encodings, ', ')) AS encoding FROM parquet_metadata(${files}) ORDER BY ALL`,
    ),
  ).toEqual([
    { compression: 'ZSTD', encoding: 'PLAIN' },
    { compression: 'ZSTD', encoding: 'PLAIN_DICTIONARY' },
  ]);
});

it.skipIf(python === undefined)(`DuckDB ${oldest} gives every table, view and macro as ours does`, async () => {
  const names = await pipeline.ask<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.tables
     UNION ALL SELECT function_name || CASE WHEN len(parameters) = 0 THEN '()' ELSE '(1)' END FROM duckdb_functions() WHERE NOT internal AND function_type = 'table_macro'`,
  );
  expect(names.length).toBeGreaterThan(20);
  const digest = (name: string) =>
    `SELECT count(*)::INTEGER AS "rows", md5(coalesce(string_agg(t::VARCHAR, '|' ORDER BY t::VARCHAR), '')) AS digest FROM ${name} AS t`;
  const queries = names.map(({ name }) => digest(name));
  const ours = await Promise.all(queries.map((query) => pipeline.ask(query)));
  const script = `import duckdb, json, sys
assert duckdb.__version__ == '${oldest}'
file, queries = json.load(sys.stdin)
c = duckdb.connect(file, read_only=True)
c.execute("SET TimeZone = 'UTC'")
print(json.dumps([[dict(zip(('rows', 'digest'), row)) for row in c.execute(q).fetchall()] for q in queries]))`;
  const input = JSON.stringify([join(pipeline.data.current, 'analytics.duckdb'), queries]);
  expect(JSON.parse(execFileSync(python ?? '', ['-c', script], { input, encoding: 'utf8' }))).toEqual(ours);
});
