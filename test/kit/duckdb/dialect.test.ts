import { DuckDBInstance } from '@duckdb/node-api';
import type { DuckDBConnection } from '@duckdb/node-api';
import { AbortedTransactionError, Kysely, sql } from 'kysely';
import type { Generated } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DuckDBDialect } from '../../../src/kit/duckdb/dialect/dialect.ts';
import { queryRows } from '../../../src/kit/duckdb/dialect/rows.ts';
import { inTransaction } from '../../../src/kit/duckdb/dialect/transaction.ts';

interface Tables {
  item: {
    id: number;
    seen_at: string | Date;
    day: string | null;
    payout: string | null;
    tags: string[];
    body: string | null;
    total: Generated<number | null>;
  };
}

let instance: DuckDBInstance;
let connection: DuckDBConnection;
let db: Kysely<Tables>;

beforeEach(async () => {
  instance = await DuckDBInstance.create(':memory:');
  connection = await instance.connect();
  // The machine's zone must not show in any value.
  await connection.run("SET TimeZone = 'Asia/Kathmandu'");
  await connection.run(`CREATE TABLE item (id BIGINT PRIMARY KEY, seen_at TIMESTAMPTZ NOT NULL, day DATE,
    payout DECIMAL(15, 6), tags VARCHAR[] NOT NULL, body JSON, total HUGEINT DEFAULT 7)`);
  db = new Kysely<Tables>({ dialect: new DuckDBDialect(connection) });
});

afterEach(async () => {
  await db.destroy();
  connection.closeSync();
  instance.closeSync();
});

const item = {
  id: 1,
  seen_at: '2026-11-18T10:00:00.123456Z',
  day: '2026-11-18',
  payout: '0.300001',
  tags: ['a', 'b'],
  body: '{"a": 1}',
};

describe('values', () => {
  it('come back as they went in, by Kysely and by raw SQL alike', async () => {
    await db
      .insertInto('item')
      .values([item, { ...item, id: 2, seen_at: new Date(0), day: null, payout: null, tags: [], body: null }])
      .execute();
    const expected = [
      { ...item, total: 7 },
      { id: 2, seen_at: '1970-01-01T00:00:00Z', day: null, payout: null, tags: [], body: null, total: 7 },
    ];
    expect(await db.selectFrom('item').selectAll().orderBy('id').execute()).toEqual(expected);
    expect(await queryRows(connection, 'FROM item ORDER BY id')).toEqual(expected);
  });

  it.each([
    ["TIMESTAMPTZ '2026-11-18 10:00:00.5+02'", '2026-11-18T08:00:00.500000Z'],
    ["TIMESTAMPTZ '1969-12-31 23:59:59.999999Z'", '1969-12-31T23:59:59.999999Z'],
    ["TIMESTAMPTZ 'infinity'", 'infinity'],
    ["TIMESTAMP '2026-11-18 10:00:00'", '2026-11-18T10:00:00'],
    ["DATE '0987-06-05'", '0987-06-05'],
    ['1.10::DECIMAL(4, 2)', '1.10'],
    ['-0.05::DECIMAL(4, 2)', '-0.05'],
    ['123456789012345678901234567890::DECIMAL(38, 0)', '123456789012345678901234567890'],
    ['9007199254740991::BIGINT', 9007199254740991],
    ['sum(1::BIGINT)', 1],
    ['count(*)', 1],
    ['1.5::DOUBLE', 1.5],
    ['[1.5, NULL]::DECIMAL(3, 1)[]', ['1.5', null]],
    ["{'a': [TIMESTAMPTZ '2026-11-18 10:00:00Z']}", { a: ['2026-11-18T10:00:00Z'] }],
    ["MAP {'a': 1}", [{ key: 'a', value: 1 }]],
    ["'a'::ENUM ('a', 'b')", 'a'],
    ["'ab'::BLOB", new Uint8Array([97, 98])],
    ['NULL', null],
  ])('%s is %j', async (expression, value) => {
    expect(await queryRows(connection, `SELECT ${expression} AS value`)).toEqual([{ value }]);
  });

  it.each([
    '9007199254740992::BIGINT',
    '(-9007199254740992)::BIGINT',
    '170141183460469231731687303715884105727::HUGEINT',
  ])('the integer %s, which a number would round, throws', async (expression) => {
    await expect(queryRows(connection, `SELECT ${expression} AS value`)).rejects.toThrow(
      /cast the (BIGINT|HUGEINT) column/,
    );
  });
});

describe('parameters', () => {
  it.each<[string, unknown, unknown]>([
    ['$1', 'text', 'text'],
    ['$1', 2 ** 53 - 1, 9007199254740991],
    ['$1 = 9223372036854775807', 9223372036854775807n, true],
    ['$1 = 170141183460469231731687303715884105727', 170141183460469231731687303715884105727n, true],
    ['$1', 0.5, 0.5],
    ['$1', false, false],
    ['$1', null, null],
    ['$1', new Date(1), '1970-01-01T00:00:00.001000Z'],
    ['$1', new Uint8Array([1]), new Uint8Array([1])],
    ['$1', ['a', null], ['a', null]],
    ['$1', [1, 2 ** 40], [1, 2 ** 40]],
    ['$1', [1, 0.5, null], [1, 0.5, null]],
    ['$1', [], []],
    ['$1', [['a'], ['b', 'c']], [['a'], ['b', 'c']]],
    ['5 = ANY($1)', [], false],
    ['5 = ANY($1)', [4, 5], true],
    ["TIMESTAMPTZ '2026-11-18 10:00:00.000001Z' > $1", '2026-11-18T10:00:00Z', true],
    ['0.3::DECIMAL(15, 6) = $1', '0.300000', true],
  ])('%s with %o is %o', async (expression, parameter, value) => {
    expect(await queryRows(connection, `SELECT ${expression} AS value`, [parameter])).toEqual([{ value }]);
  });

  it.each<[unknown]>([[undefined], [{}], [2 ** 53], [new Date(Number.NaN)], [['a', 1]], [[undefined]]])(
    '%o is refused by its number',
    async (parameter) => {
      await expect(queryRows(connection, 'SELECT $1, $2', [1, parameter])).rejects.toThrow(/^parameter \$2 /);
    },
  );
});

describe('statements', () => {
  it('distinguish reads from writes, whatever their columns are called', async () => {
    const inserted = await db
      .insertInto('item')
      .values([item, { ...item, id: 2 }])
      .executeTakeFirstOrThrow();
    expect(inserted.numInsertedOrUpdatedRows).toBe(2n);
    const updated = await db.updateTable('item').set({ payout: '1' }).where('id', '=', 2).executeTakeFirstOrThrow();
    expect(updated.numUpdatedRows).toBe(1n);
    const count = await db
      .selectFrom('item')
      .select((eb) => eb.fn.countAll<number>().as('Count'))
      .executeTakeFirstOrThrow();
    expect(count).toEqual({ Count: 2 });
    const returned = await db.deleteFrom('item').where('id', '=', 2).returning(['id', 'payout']).execute();
    expect(returned).toEqual([{ id: 2, payout: '1.000000' }]);
    const deleted = await db.deleteFrom('item').executeTakeFirstOrThrow();
    expect(deleted.numDeletedRows).toBe(1n);
  });

  it('upsert by ON CONFLICT', async () => {
    await db.insertInto('item').values(item).execute();
    await db
      .insertInto('item')
      .values({ ...item, payout: '2' })
      .onConflict((conflict) => conflict.column('id').doUpdateSet((eb) => ({ payout: eb.ref('excluded.payout') })))
      .execute();
    expect(await db.selectFrom('item').select('payout').execute()).toEqual([{ payout: '2.000000' }]);
  });

  it('insert or replace, insert or ignore', async () => {
    await db.insertInto('item').values(item).execute();
    await db
      .insertInto('item')
      .orReplace()
      .values({ ...item, payout: '2' })
      .execute();
    await db
      .insertInto('item')
      .orIgnore()
      .values({ ...item, payout: '3' })
      .execute();
    expect(await db.selectFrom('item').select('payout').execute()).toEqual([{ payout: '2.000000' }]);
  });

  it('report no rows and no count for what is neither', async () => {
    const created = await sql`CREATE TABLE copied AS SELECT 1 AS one`.execute(db);
    expect(created).toEqual({ rows: [] });
  });

  it('stream', async () => {
    await connection.run(
      "INSERT INTO item SELECT range, TIMESTAMPTZ '2026-11-18 10:00:00Z', NULL, 1, [], NULL, 1 FROM range(5000)",
    );
    let sum = 0;
    for await (const row of db.selectFrom('item').select(['id', 'seen_at']).stream()) {
      expect(row.seen_at).toBe('2026-11-18T10:00:00Z');
      sum += row.id;
    }
    expect(sum).toBe(12_497_500);
  });
});

describe('transactions', () => {
  it('commit or roll back as a whole', async () => {
    await db
      .transaction()
      .execute(async (transaction) => void (await transaction.insertInto('item').values(item).execute()));
    const failing = db.transaction().execute(async (transaction) => {
      await transaction.deleteFrom('item').execute();
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(await queryRows(connection, 'SELECT count(*) AS rows FROM item')).toEqual([{ rows: 1 }]);
  });

  it.each(['Kysely', 'connection'])('by %s do not report a commit after a swallowed failure', async (by) => {
    await connection.run('INSERT INTO item (id, seen_at, tags) VALUES (1, now(), [])');
    const work = async (): Promise<void> => {
      await connection.run('INSERT INTO item (id, seen_at, tags) VALUES (2, now(), [])');
      await connection.run('INSERT INTO item (id, seen_at, tags) VALUES (1, now(), [])').catch(() => undefined);
    };
    const transaction = by === 'Kysely' ? db.transaction().execute(work) : inTransaction(connection, work);
    await expect(transaction).rejects.toThrow(AbortedTransactionError);
    expect(await queryRows(connection, 'SELECT id FROM item')).toEqual([{ id: 1 }]);
    // The connection is free for the next transaction.
    expect(await inTransaction(connection, async () => 'again')).toBe('again');
  });

  it('do not nest: nothing of the outer one is committed, and it says so', async () => {
    const outer = inTransaction(connection, async () => {
      await connection.run('INSERT INTO item (id, seen_at, tags) VALUES (1, now(), [])');
      await expect(inTransaction(connection, async () => 'inner')).rejects.toThrow(/within a transaction/);
    });
    await expect(outer).rejects.toThrow(AbortedTransactionError);
    expect(await queryRows(connection, 'SELECT id FROM item')).toEqual([]);
  });
});

describe('introspection', () => {
  it('describes tables, views and columns', async () => {
    await connection.run('CREATE VIEW seen AS SELECT id FROM item');
    await connection.run("COMMENT ON COLUMN item.payout IS 'USD'");
    const tables = await db.introspection.getTables();
    expect(tables.map(({ name, isView }) => [name, isView])).toEqual([
      ['item', false],
      ['seen', true],
    ]);
    expect(tables[0]?.columns).toContainEqual({
      name: 'payout',
      dataType: 'DECIMAL(15,6)',
      isNullable: true,
      isAutoIncrementing: false,
      hasDefaultValue: false,
      comment: 'USD',
    });
    expect(tables[0]?.columns).toContainEqual({
      name: 'total',
      dataType: 'HUGEINT',
      isNullable: true,
      isAutoIncrementing: false,
      hasDefaultValue: true,
    });
    expect(await db.introspection.getSchemas()).toEqual([{ name: 'main' }]);
  });
});
