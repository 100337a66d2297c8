import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { asOf, sites } from '../../e2e/small-data.ts';
import { offerline } from '../../support/command-line.ts';
import { command, usageErrorOf } from '../../support/commands.ts';
import { PipelineUnderTest } from '../../support/pipeline-under-test.ts';

const users = ['=cmd', '+49', '-1+1', '@SUM(1)', '\t=1', '-5', 'anna'];
const disarmed = ["'=cmd", "'+49", "'-1+1", "'@SUM(1)", "'\t=1", '-5', 'anna'];

let pipeline: PipelineUnderTest;
let root: string;
beforeAll(async () => {
  pipeline = await PipelineUnderTest.create(new Date(asOf), { sites });
  root = pipeline.data.root;
  await pipeline.landOffers('net', [{ id: 1, external_id: 'one', title: 'One', payout: '1' }]);
  await pipeline.landLog(
    'clicks',
    'ndjson',
    users.map((user_id, index) => ({
      click_id: `=c${index}`,
      offer_id: 1,
      site_key: 'site-1',
      user_id,
      clicked_at: '2025-03-10T09:30:00Z',
    })),
  );
  await pipeline.refresh(asOf);
});
afterAll(() => pipeline[Symbol.asyncDispose]());

const cellsOf = (csv: string) =>
  csv
    .trimEnd()
    .split('\n')
    .map((row) => row.split(','));

it('gets no formula by sql, and numbers as they are', async () => {
  const query =
    'SELECT user_id AS "=name", -1.50 AS negative, -2 AS whole, [user_id, user_id] AS list FROM clicks ORDER BY click_id';
  const [header, ...rows] = cellsOf(await command(root, 'sql', query, '--format', 'csv', '--spreadsheet'));
  expect(header).toEqual(["'=name", 'negative', 'whole', 'list']);
  expect(rows.map(([user]) => user)).toEqual(disarmed);
  expect(rows[0]).toEqual(["'=cmd", '-1.50', '-2', "'=cmd|=cmd"]);
  // A program is given each text as it is.
  const plain = cellsOf(await command(root, 'sql', query, '--format', 'csv'));
  expect(plain.slice(1).map(([user]) => user)).toEqual(users);
});

it('gets no formula by export, to a file and to standard output', async () => {
  const file = join(root, 'clicks.csv');
  const words = ['export', 'clicks', '--format', 'csv', '--spreadsheet', '--out'];
  expect(JSON.parse(await command(root, ...words, file, '--json'))).toMatchObject({ rows: users.length, file });
  const [header = [], ...rows] = cellsOf(await readFile(file, 'utf8'));
  const place = header.indexOf('user_id');
  expect(rows.map((row) => row[place] ?? '').toSorted()).toEqual(disarmed.toSorted());
  expect(rows[0]?.[header.indexOf('clicked_at')]).toBe('2025-03-10T09:30:00Z');
  expect((await offerline(root, ...words, '-')).stdout).toBe(await readFile(file, 'utf8'));
});

it('gets no formula by reconcile', async () => {
  const [file, out] = [join(root, 'list.csv'), join(root, 'differences.csv')];
  await writeFile(file, 'click_id,amount\n=c0,1\n=unknown,2\n');
  const words = ['reconcile', '--site', 'site-1', '--file', file, '--out', out];
  const clicks = async () => cellsOf(await readFile(out, 'utf8')).map(([, click]) => click);
  await command(root, ...words, '--spreadsheet');
  expect(await clicks()).toEqual(['click_id', "'=c0", "'=unknown"]);
  await command(root, ...words);
  expect(await clicks()).toEqual(['click_id', '=c0', '=unknown']);
});

it('is only meant where there is a CSV', async () => {
  const list = join(root, 'list.csv');
  expect(await usageErrorOf(root, 'sql', 'SELECT 1', '--spreadsheet')).toContain('add --format csv');
  expect(await usageErrorOf(root, 'export', 'clicks', '--format', 'parquet', '--spreadsheet')).toContain(
    'say --format csv',
  );
  expect(await usageErrorOf(root, 'reconcile', '--site', 'site-1', '--file', list, '--spreadsheet')).toContain(
    'name one',
  );
});
