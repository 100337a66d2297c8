import { DuckDBInstance } from '@duckdb/node-api';
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { queryRows, type QueryRow } from '../../../src/kit/duckdb/dialect/rows.ts';
import { verifySnapshot } from '../../../src/pipeline/snapshot/verify.ts';
import { command, usageErrorOf } from '../../support/commands.ts';
import { asOf, smallData } from '../../e2e/small-data.ts';
import type { PipelineUnderTest } from '../../support/pipeline-under-test.ts';

let pipeline: PipelineUnderTest;
let folder: string;
/** Digests of all rows of every table, view and macro, where the snapshot was published. */
let published: QueryRow[];
beforeAll(async () => {
  pipeline = await smallData();
  await pipeline.refresh(asOf);
  folder = realpathSync(pipeline.data.current);
  published = await digests(folder);
});
afterAll(() => pipeline[Symbol.asyncDispose]());

/** By a client of its own, as an analyst has it: it knows of a snapshot what it is given. */
async function digests(place: string, statement?: string): Promise<QueryRow[]> {
  const instance = await DuckDBInstance.create(join(place, 'analytics.duckdb'), { access_mode: 'READ_ONLY' });
  const connection = await instance.connect();
  try {
    if (statement !== undefined) await connection.run(statement);
    const names = await queryRows<{ name: string }>(
      connection,
      `SELECT table_name AS name FROM information_schema.tables
       UNION ALL SELECT function_name || CASE WHEN len(parameters) = 0 THEN '()' ELSE '(1)' END FROM duckdb_functions() WHERE NOT internal AND function_type = 'table_macro'
       ORDER BY name`,
    );
    const all: QueryRow[] = [];
    for (const { name } of names)
      all.push(
        ...(await queryRows(
          connection,
          `SELECT '${name}' AS name, count(*)::INTEGER AS "rows", md5(coalesce(string_agg(t::VARCHAR, '|' ORDER BY t::VARCHAR), '')) AS digest FROM ${name} AS t`,
        )),
      );
    return all;
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

/** The statement that the folder's own README gives, with the place filled in. */
function statementOf(place: string): string {
  const [statement = ''] = /SET VARIABLE .*;/.exec(readFileSync(join(place, 'README.txt'), 'utf8')) ?? [];
  return statement.replace(/'.*'/, `'${place}'`);
}

it('a copy answers every table, view and macro as the published one does, after the one statement of its README', async () => {
  const copy = join(pipeline.data.root, 'elsewhere', basename(folder));
  cpSync(folder, copy, { recursive: true });
  for (const name of readdirSync(copy, { recursive: true, encoding: 'utf8' })) chmodSync(join(copy, name), 0o555);
  onTestFinished(() => rmSync(copy, { recursive: true, force: true }));
  // As on another machine: nothing is where it was published.
  renameSync(folder, `${folder}-away`);
  onTestFinished(() => renameSync(`${folder}-away`, folder));
  expect(published.length).toBeGreaterThan(20);
  expect(await digests(copy, statementOf(copy))).toEqual(published);
  await expect(digests(copy)).rejects.toThrow('No files found');
});

it('all that is read is below the folder', async () => {
  const views = await pipeline.ask<{ sql: string }>(
    `SELECT sql FROM duckdb_views() WHERE NOT internal UNION ALL SELECT macro_definition FROM duckdb_functions() WHERE NOT internal AND macro_definition LIKE '%read_parquet%'`,
  );
  const named = views.flatMap(({ sql }) => [...sql.matchAll(/COALESCE\(getvariable\('offerline'\), '([^']*)'\)/gi)]);
  expect(new Set(named.map(([, place]) => place))).toEqual(new Set([folder]));
  for (const { sql } of views)
    expect(sql.replaceAll(/COALESCE\(getvariable\('offerline'\), '[^']*'\)/gi, '')).not.toContain(folder);
});

it('`export --whole` packs it for somebody else, who unpacks it and asks', async () => {
  const archive = join(pipeline.data.root, 'for-somebody.tar');
  expect(await command(pipeline.data.root, 'export', '--whole', '--out', archive)).toContain('its README.txt says how');
  const unpacked = join(pipeline.data.root, 'unpacked');
  mkdirSync(unpacked);
  execFileSync('tar', ['-xf', archive, '-C', unpacked]);
  const place = join(unpacked, basename(folder));
  expect(await digests(place, statementOf(place))).toEqual(published);
  await verifySnapshot(place);
  await expect(usageErrorOf(pipeline.data.root, 'export', 'clicks', '--whole')).resolves.toContain('leave the table');
  await expect(usageErrorOf(pipeline.data.root, 'export', 'clicks')).resolves.toContain('--format parquet or csv');
});
