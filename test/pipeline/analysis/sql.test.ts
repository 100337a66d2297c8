import { execFile } from 'node:child_process';
import { rename, readdir, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { smallData, asOf, clicks } from '../../e2e/small-data.ts';
import { launcher, offerline } from '../../support/command-line.ts';
import { command, usageErrorOf } from '../../support/commands.ts';
import type { PipelineUnderTest } from '../../support/pipeline-under-test.ts';

const later = '2025-03-10T13:00:00Z';

let pipeline: PipelineUnderTest;
let root: string;
let first: string;
beforeAll(async () => {
  pipeline = await smallData();
  root = pipeline.data.root;
  await pipeline.refresh(asOf);
  first = (await pipeline.snapshots()).current;
  await pipeline.landLog('clicks', 'ndjson', clicks('second', 4, '2025-03-10T09:45:00Z'));
  await pipeline.refresh(later);
});
afterAll(() => pipeline[Symbol.asyncDispose]());

const sql = (...words: string[]) => command(root, 'sql', ...words);
const refusalOf = (...words: string[]) => usageErrorOf(root, 'sql', ...words);

describe('offerline sql', () => {
  it('prints a table for people, CSV and JSON for programs', async () => {
    const query = `SELECT offer_id, payout, [title] AS titles, NULL AS nothing FROM offers ORDER BY offer_id`;
    expect(await sql(query)).toBe(
      [
        'offer_id  payout    titles   nothing',
        '       1  1.500000  ["One"]  -',
        '       2  0.250000  ["Two"]  -',
        '(2 rows)',
        '',
      ].join('\n'),
    );
    expect(await sql(query, '--format', 'csv')).toBe(
      'offer_id,payout,titles,nothing\n1,1.500000,One,\n2,0.250000,Two,\n',
    );
    const expected = {
      snapshot_id: (await pipeline.snapshots()).current,
      as_of: later,
      columns: [
        { name: 'offer_id', type: 'INTEGER' },
        { name: 'payout', type: 'DECIMAL(15,6)' },
        { name: 'titles', type: 'VARCHAR[]' },
        { name: 'nothing', type: expect.any(String) as string },
      ],
      rows: [
        { offer_id: 1, payout: '1.500000', titles: ['One'], nothing: null },
        { offer_id: 2, payout: '0.250000', titles: ['Two'], nothing: null },
      ],
    };
    expect(JSON.parse(await sql(query, '--format', 'json'))).toEqual(expected);
    expect(JSON.parse(await sql(query, '--json'))).toEqual(expected);
    expect(JSON.parse(await sql('FROM offers WHERE false', '--json'))).toMatchObject({ rows: [] });
  });

  it('shows values of every type, exactly', async () => {
    const query = `SELECT 18446744073709551615::UBIGINT AS large, 1.10::DECIMAL(5, 2) AS money, 'NaN'::DOUBLE AS no_number, TIMESTAMPTZ '2025-03-10T12:00:00+02:00' AS moment,
      DATE '2025-03-10' AS day, {a: 1} AS struct, MAP {'k': 2} AS map, '101'::BIT AS bits, [encode('é')] AS bytes, 1 AS same, 2 AS same`;
    expect((JSON.parse(await sql(query, '--json')) as { rows: unknown[] }).rows).toEqual([
      {
        large: '18446744073709551615',
        money: '1.10',
        no_number: 'NaN',
        moment: '2025-03-10T10:00:00Z',
        day: '2025-03-10',
        struct: { a: 1 },
        map: [{ key: 'k', value: 2 }],
        bits: '101',
        bytes: ['\\xC3\\xA9'],
        same: 1,
        'same:1': 2,
      },
    ]);
  });

  it('cuts what is too long for people, and says so', async () => {
    expect(await sql('FROM range(1200)')).toMatch(
      /\n {2}999\n\(the first 1000 rows; --format csv or json gives all\)\n$/,
    );
    expect((await sql('FROM range(5000)', '--format', 'csv')).split('\n')).toHaveLength(5002);
    expect(await sql(`SELECT repeat('x', 200) AS long`)).toContain(`\n${'x'.repeat(79)}…\n`);
  });

  it('shows the cells of a row below each other, whole, where that is asked for', async () => {
    const long = await sql(
      `SELECT repeat('x', 200) AS long, 1 AS n UNION ALL SELECT 'y', 2 ORDER BY n`,
      '--format',
      'vertical',
    );
    expect(long).toBe(`-- row 1\nlong  ${'x'.repeat(200)}\nn     1\n-- row 2\nlong  y\nn     2\n(2 rows)\n`);
  });

  it('asks an older snapshot as it was, by its id or how it begins', async () => {
    const count = 'SELECT count(*) AS clicks FROM clicks';
    expect(await sql(count, '--format', 'csv')).toBe('clicks\n24\n');
    expect(await sql(count, '--format', 'csv', '--snapshot', first)).toBe('clicks\n20\n');
    expect(await sql(count, '--format', 'csv', '--snapshot', '00000001')).toBe('clicks\n20\n');
    expect(await refusalOf(count, '--snapshot', '0000')).toContain('several snapshots begin with "0000"');
    expect(await refusalOf(count, '--snapshot', '77')).toMatch(
      new RegExp(`there is no snapshot "77"; kept are ${first}, `),
    );
  });

  it.each([
    ["COPY offers TO '%/stolen.csv'", 'not COPY'],
    ["EXPLAIN ANALYZE COPY offers TO '%/stolen.csv'", 'not EXPLAIN'],
    ['CREATE TEMP TABLE t AS SELECT 1', 'not CREATE'],
    ['DELETE FROM offers', 'not DELETE'],
    ['SET threads = 1', 'not SET'],
    ["ATTACH ':memory:' AS other", 'not ATTACH'],
    ['SELECT 1; SELECT 2', 'one query at a time, not 2'],
    ["FROM read_text('/etc/hostname')", 'Permission Error'],
    ["FROM glob('/etc/*')", 'Permission Error'],
    ['/* nothing */', 'there is no query'],
    ['SELECT $1', 'parameters'],
    ['SELECT wrong FROM offers', 'names the columns of a table\n\nLINE 1: SELECT wrong FROM offers\n'],
    ['SELECT clickid FROM clicks', 'there is no column "clickid"; nearest are "click_id",'],
    ['SELECT o.wrong FROM offers AS o', 'there is no column "wrong" in "o"'],
    ['SELECT x.offer_id FROM offers', 'there is no table "x" in what FROM names'],
    ['FROM click', 'there is no table "click"; nearest are "clicks"; `SHOW TABLES` names all'],
    ['SELECT yesterdays(1)', 'there is no function "yesterdays"'],
    ["SELECT 1 AS a, wrong\nFROM offers WHERE 'not found in FROM clause' = ''", '\n\nLINE 1: SELECT 1 AS a, wrong\n'],
    ['SELEC 1', 'Parser Error: syntax error at or near "SELEC"'],
    ['SELECT 1\nFROM offers WHERE wrong', '\n(at wrong in line 2)'],
  ])('refuses %s', async (query, reason) => {
    const { current } = await pipeline.snapshots();
    const folder = join(pipeline.data.published, current);
    const before = await readdir(folder);
    expect(await refusalOf(query.replace('%', folder))).toContain(reason);
    expect(await readdir(folder)).toEqual(before);
  });

  it('explains a query', async () => {
    expect(await sql('EXPLAIN SELECT 1')).toContain('physical_plan');
    expect(await sql('/* how */ explain analyze SELECT count(*) FROM clicks')).toContain('analyzed_plan');
  });

  it("says that a query failed on the way, with DuckDB's words", async () => {
    await expect(sql(`SELECT title::INTEGER FROM offers`)).rejects.toThrow("Could not convert string 'One' to INT32");
  });

  it('reads the query from standard input, and stops where nobody reads on', async () => {
    const run = promisify(execFile);
    const shell = `echo 'SELECT range AS n FROM range(2000000)' | "$0" "$@" | head -n 2; echo "\${PIPESTATUS[1]}"`;
    const { stdout, stderr } = await run(
      'bash',
      ['-c', shell, launcher.executable, ...launcher.words, 'sql', '-', '--format', 'csv'],
      { env: { ...process.env, OFFERLINE_DATA: root } },
    );
    expect({ stdout, stderr }).toEqual({ stdout: 'n\n0\n0\n', stderr: '' });
  });

  it('takes a query that begins with a comment, as one copied out of a file', async () => {
    const query = '-- Offers\nSELECT count(*) AS offers FROM offers -- all of them';
    expect(await offerline(root, 'sql', query, '--format', 'csv')).toEqual({
      code: 0,
      stdout: 'offers\n2\n',
      stderr: '',
    });
  });

  it('answers where the data directory is reached another way, and where it was moved to', async () => {
    const count = ['sql', 'SELECT count(*) AS clicks FROM clicks', '--format', 'csv'];
    const other = `${root}-link`;
    await symlink(root, other);
    onTestFinished(() => rm(other));
    expect(await command(other, ...count)).toBe('clicks\n24\n');
    const moved = `${root}-moved [1]`;
    await rename(root, moved);
    try {
      expect(await command(moved, ...count)).toBe('clicks\n24\n');
    } finally {
      await rename(moved, root);
    }
  });

  it('says what to do where nothing is published', async () => {
    await using empty = await smallData();
    expect(await usageErrorOf(empty.data.root, 'sql', 'SELECT 1')).toContain('publishes a first snapshot');
  });
});
