import { DuckDBInstance, StatementType } from '@duckdb/node-api';
import { hash } from 'node:crypto';
import { lstat, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findSnapshot } from '../../../src/pipeline/analysis/kept-snapshots.ts';
import { askSnapshot } from '../../../src/pipeline/analysis/query.ts';
import { readingStatement } from '../../../src/pipeline/analysis/reading-statement.ts';
import { withSnapshotDatabase } from '../../../src/pipeline/analysis/snapshot-database.ts';
import { UsageError } from '../../../src/kit/errors/errors.ts';
import { queryRows } from '../../../src/kit/duckdb/dialect/rows.ts';
import { asOf, smallData } from '../../e2e/small-data.ts';
import { command, usageErrorOf } from '../../support/commands.ts';
import type { PipelineUnderTest } from '../../support/pipeline-under-test.ts';
import { slow } from '../../support/slow.ts';

/** Texts of every kind of DuckDB's, none where no text is of that kind. `%` is the snapshot's folder. */
const kinds: Record<keyof typeof StatementType, readonly string[]> = {
  SELECT: [
    'SELECT 1',
    'FROM offers',
    'FROM offers SELECT offer_id',
    'WITH a AS (FROM offers) FROM a',
    'VALUES (1)',
    'TABLE offers',
    '(SELECT 1) UNION ALL (SELECT 2);',
    'DESCRIBE offers',
    'DESCRIBE SELECT 1',
    'SUMMARIZE offers',
    'SUMMARIZE FROM offers',
    'SHOW TABLES',
    'SHOW ALL TABLES',
    'SHOW offers',
    'FROM (DESCRIBE offers)',
    "PIVOT offers ON status IN ('active') USING count(*)",
    'UNPIVOT (SELECT 1 AS a, 2 AS b) ON a, b',
    '/* how */ -- why\nSELECT 1 -- so',
  ],
  EXPLAIN: [
    'EXPLAIN SELECT 1',
    'EXPLAIN ANALYZE FROM offers',
    'EXPLAIN (ANALYZE) FROM offers',
    'EXPLAIN (FORMAT json) SELECT 1',
    'explain (analyze, format json)\nSELECT 1',
    '/* how */ EXPLAIN -- so\nSELECT 1',
    '/* how /* or */ so */ EXPLAIN SELECT 1',
    'EXPLAIN (SELECT 1)',
    'EXPLAIN WITH a AS (SELECT 1) FROM a',
    'EXPLAIN DESCRIBE offers',
  ],
  INSERT: ['INSERT INTO offers (offer_id) VALUES (9)', 'INSERT INTO offers (offer_id) SELECT 9'],
  UPDATE: ['UPDATE offers SET offer_id = 9'],
  DELETE: ['DELETE FROM offers', 'TRUNCATE offers'],
  MERGE_INTO: ['MERGE INTO offers USING (SELECT 1 AS x) AS s ON offer_id = x WHEN MATCHED THEN DELETE'],
  CREATE: [
    'CREATE TABLE mine AS SELECT 1',
    'CREATE TEMP VIEW mine AS SELECT 1',
    'CREATE MACRO mine() AS 1',
    'CREATE SEQUENCE mine',
    'CREATE SECRET mine (TYPE http)',
  ],
  ALTER: ['ALTER TABLE offers RENAME TO mine', "COMMENT ON TABLE offers IS 'mine'"],
  DROP: ['DROP TABLE offers', 'DEALLOCATE p'],
  PREPARE: ['PREPARE mine AS SELECT 1'],
  EXECUTE: ['EXECUTE p'],
  TRANSACTION: ['BEGIN', 'COMMIT', 'ROLLBACK'],
  COPY: [
    "COPY offers TO '%/mine.csv'",
    "COPY (SELECT 1) TO '%/analytics.duckdb.wal'",
    "COPY offers FROM '%/manifest.json'",
    "COPY (SELECT 1) TO '%/manifest.json'",
  ],
  EXPORT: [
    "EXPORT DATABASE '%/mine'",
    "EXPORT DATABASE '%/analytics.duckdb.wal'",
    "EXPORT DATABASE '%' (FORMAT parquet)",
  ],
  PRAGMA: ['PRAGMA enable_profiling', 'PRAGMA force_checkpoint', 'PRAGMA disable_optimizer'],
  SET: [
    'SET threads = 1',
    'RESET threads',
    'SET VARIABLE mine = 1',
    'USE memory',
    'PRAGMA threads = 1',
    "SET temp_directory = '%/mine'",
  ],
  CALL: [
    'CALL pragma_version()',
    'CHECKPOINT',
    'FORCE CHECKPOINT',
    "CALL enable_logging(storage := 'file', storage_path := '%/mine')",
  ],
  VACUUM: ['VACUUM', 'ANALYZE', 'VACUUM ANALYZE'],
  LOAD: ['LOAD json', 'INSTALL json'],
  ATTACH: ["ATTACH ':memory:' AS mine", "ATTACH '%/mine.duckdb'"],
  DETACH: ['DETACH other'],
  UPDATE_EXTENSIONS: ['UPDATE EXTENSIONS'],
  INVALID: [],
  ANALYZE: [],
  VARIABLE_SET: [],
  CREATE_FUNC: [],
  RELATION: [],
  EXTENSION: [],
  LOGICAL_PLAN: [],
  MULTI: [],
  COPY_DATABASE: [],
};

/** Texts that become other statements while they are parsed, and some that hide one. */
const others = [
  'PRAGMA version',
  'PRAGMA show_tables',
  "IMPORT DATABASE '%'",
  'COPY FROM DATABASE analytics TO other',
  'PIVOT offers ON status',
  "SELECT 1; EXPORT DATABASE '%/mine'",
  "EXPORT DATABASE '%/mine'; SELECT 1",
  'WITH a AS (SELECT 1) INSERT INTO offers (offer_id) FROM a',
  "EXPLAIN EXPORT DATABASE '%/mine'",
  "EXPLAIN ANALYZE COPY offers TO '%/mine.csv'",
  "EXPLAIN (ANALYZE) COPY offers TO '%/mine.csv'",
  'EXPLAIN ANALYZE DELETE FROM offers',
  'EXPLAIN ANALYZE CREATE TABLE mine AS SELECT 1',
  "EXPLAIN SELECT 1; EXPORT DATABASE '%/mine'",
  'EXPLAIN EXPLAIN SELECT 1',
  // DuckDB would run the statement before it.
  'SELECT 1\0 garbage',
  // Functions that a SELECT can call.
  "FROM enable_logging(level := 'trace', storage := 'file', storage_path := '%/mine')",
  "FROM Enable_Profiling(format := 'json', save_location := '%/mine.json')",
  "SELECT (SELECT count(*) FROM enable_logging(storage := 'file', storage_path := '%/mine')), write_log('x')",
  'FROM force_checkpoint()',
  'FROM "checkpoint"()',
  "FROM query('COPY (SELECT 1) TO ''%/mine.csv''')",
  "FROM query('FROM enable_logging()')",
  "FROM query_table('offers')",
  "FROM json_execute_serialized_sql(json_serialize_sql('SELECT 1'))",
  "EXPLAIN ANALYZE FROM enable_logging(storage := 'file', storage_path := '%/mine')",
  "SELECT nextval('mine')",
  "SELECT getenv('HOME')",
  "FROM read_text('/etc/hostname')",
  "FROM '/etc/passwd'",
  "FROM glob('/etc/*')",
  "FROM read_text('%/../../sites.json')",
  "FROM read_csv('/dev/stdin')",
  "FROM read_parquet('http://127.0.0.1:1/mine')",
  "FROM read_duckdb('%/mine.duckdb', table_name := 'mine')",
];

/** Comments that end elsewhere than they seem to. Some are read as an EXPLAIN, which may run. */
const unclear = [
  "EXPLAIN (ANALYZE -- ) SELECT 1 /*\n) COPY offers TO '%/mine.csv' --*/",
  "EXPLAIN (ANALYZE /* ) SELECT 1 -- */) COPY offers TO '%/mine.csv'",
  "/* /* */ EXPLAIN SELECT 1 -- */ */ EXPORT DATABASE '%/mine'",
  "/* /* */ EXPLAIN ANALYZE SELECT 1 -- */ EXPORT DATABASE '%/mine' --\n*/",
  "/**/-- \rEXPORT DATABASE '%/mine' --\nEXPLAIN SELECT 1",
  "/* /* */ SELECT 1 -- */ EXPORT DATABASE '%/mine'",
];

let pipeline: PipelineUnderTest;
let folder: string;
let before: Record<string, string>;
let digestsBefore: Record<string, string>;
beforeAll(async () => {
  pipeline = await smallData();
  await pipeline.refresh(asOf);
  folder = join(pipeline.data.published, (await pipeline.snapshots()).current);
  before = await contents();
  digestsBefore = await digests();
});
afterAll(() => pipeline[Symbol.asyncDispose]());

/** Every name in the data directory, with what is there: when each was changed last, by the system's own clock, too. */
async function contents(): Promise<Record<string, string>> {
  const names = await readdir(pipeline.data.root, { recursive: true });
  return Object.fromEntries(
    await Promise.all(
      names.map(async (name): Promise<[string, string]> => {
        const { ino, mode, size, mtimeNs, ctimeNs } = await lstat(join(pipeline.data.root, name), { bigint: true });
        return [name, [ino, mode, size, mtimeNs, ctimeNs].join(' ')];
      }),
    ),
  );
}

/** A digest of every file in the data directory. */
async function digests(): Promise<Record<string, string>> {
  const entries = await readdir(pipeline.data.root, { recursive: true, withFileTypes: true });
  return Object.fromEntries(
    await Promise.all(
      entries
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) => join(parentPath, name))
        .map(async (path): Promise<[string, string]> => [path, hash('sha256', await readFile(path))]),
    ),
  );
}

const within = (text: string) => text.replaceAll('%', folder);

describe('offerline sql', () => {
  it('knows texts of every kind of statement, each as DuckDB calls it', async () => {
    const known = Object.keys(StatementType).filter((name) => Number.isNaN(Number(name)));
    expect(Object.keys(kinds).toSorted()).toEqual(known.toSorted());
    const instance = await DuckDBInstance.create(':memory:');
    const connection = await instance.connect();
    try {
      await connection.run('CREATE TABLE offers (offer_id INTEGER, status VARCHAR)');
      await connection.run("PREPARE p AS SELECT 1; ATTACH ':memory:' AS other");
      // Some open their files while they are prepared.
      await connection.run('SET enable_external_access = false');
      for (const [kind, texts] of Object.entries(kinds)) {
        for (const text of texts) {
          const found = await connection.prepare(text.replaceAll('%', '/nowhere')).then(
            ({ statementType }) => StatementType[statementType],
            ({ message }: Error) => (/Permission Error|disabled/.test(message) ? kind : message),
          );
          expect(found, text).toBe(kind);
        }
      }
    } finally {
      connection.closeSync();
      instance.closeSync();
    }
  });

  it.each([...kinds.SELECT, ...kinds.EXPLAIN])('runs %j', async (text) => {
    expect(await command(pipeline.data.root, 'sql', text)).toMatch(/\(.*\d rows?\)\n$/);
    expect(await contents()).toEqual(before);
  });

  const { SELECT: _select, EXPLAIN: _explain, ...writing } = kinds;
  it.each([...Object.values(writing).flat(), ...others])('refuses %j', async (text) => {
    expect(await usageErrorOf(pipeline.data.root, 'sql', within(text))).not.toBe('');
    expect(await contents()).toEqual(before);
  });

  it.each(unclear)('changes nothing by %j, whatever it is', async (text) => {
    const outcome = await command(pipeline.data.root, 'sql', within(text)).catch((error: unknown) => error);
    expect(typeof outcome === 'string' || outcome instanceof UsageError).toBe(true);
    expect(await contents()).toEqual(before);
  });

  it('passes over what precedes a query, however many comments and blanks', async () => {
    const instance = await DuckDBInstance.create(':memory:');
    const connection = await instance.connect();
    try {
      const heads = [
        '/* part of a header */\n'.repeat(4_000),
        '/*'.repeat(90) + '*/'.repeat(90),
        ' '.repeat(3_000_000),
      ];
      for (const head of heads) {
        expect(await readingStatement(connection, `${head}SELECT 1`)).toBe(`${head}SELECT 1`);
        expect(await readingStatement(connection, `${head}EXPLAIN SELECT 1`)).toBe('EXPLAIN SELECT 1');
        await expect(readingStatement(connection, `${head}EXPORT DATABASE 'mine'`)).rejects.toThrow('not EXPORT');
      }
      await expect(readingStatement(connection, '/* /* */'.repeat(40_000))).rejects.toThrow('unterminated');
    } finally {
      connection.closeSync();
      instance.closeSync();
    }
  });

  it('changes nothing by any function that DuckDB has, whatever it is given', slow, async () => {
    const snapshot = await findSnapshot(pipeline.data);
    await withSnapshotDatabase(snapshot, async (connection) => {
      const functions = await queryRows<{ name: string; table: boolean }>(
        connection,
        `SELECT DISTINCT function_name AS name, function_type LIKE 'table%' AS "table" FROM duckdb_functions()
          WHERE function_type LIKE 'table%' OR has_side_effects OR stability = 'VOLATILE'`,
      );
      expect(functions.length).toBeGreaterThan(80);
      for (const { name, table } of functions) {
        const paths = ['mine', 'analytics.duckdb.wal'].map((file) => `'${folder}/${file}'`);
        for (const given of ['', ...paths, `'SELECT 1', ${paths[0]}`, `'offers'`, '0']) {
          const call = `"${name}"(${given})`;
          await askSnapshot(connection, table ? `FROM ${call} LIMIT 1` : `SELECT ${call}`)
            .then(async ({ chunks }) => chunks[Symbol.asyncIterator]().next())
            .catch((error: Error) => error);
        }
      }
    });
    expect(await contents()).toEqual(before);
  });
});

it('says what it takes', async () => {
  const refusalOf = (text: string) => usageErrorOf(pipeline.data.root, 'sql', within(text));
  expect(await refusalOf("EXPORT DATABASE '%/mine'")).toBe(
    'a snapshot is only read: it takes one SELECT, FROM, WITH, DESCRIBE, SUMMARIZE or SHOW, or EXPLAIN of one, not EXPORT',
  );
  expect(await refusalOf('EXPLAIN ANALYZE DELETE FROM offers')).toContain('not EXPLAIN of DELETE');
  expect(await refusalOf('WITH a AS (SELECT 1) INSERT INTO offers (offer_id) FROM a')).toContain('nor one that writes');
  expect(await refusalOf('FROM enable_logging()')).toContain('enable_logging');
  expect(await refusalOf('EXPLAIN SELEC 1')).toContain('syntax error at or near "SELEC"');
});

it('has left every byte of the data directory as it was', async () => {
  expect(await digests()).toEqual(digestsBefore);
});
