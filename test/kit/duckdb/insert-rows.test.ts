import { DuckDBInstance } from '@duckdb/node-api';
import { expect, it } from 'vitest';
import { queryRows } from '../../../src/kit/duckdb/dialect/rows.ts';
import { insertRows } from '../../../src/kit/duckdb/insert-rows.ts';

it('inserts every row once and in order, whatever statements they are split over, with casts and nulls', async () => {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  try {
    await connection.run('CREATE TABLE counted (number BIGINT, day DATE, amount DECIMAL(7, 6), name VARCHAR)');
    const rows = Array.from({ length: 12_001 }, (_, number) => ({
      name: number % 2 === 0 ? null : `it's ${number}`,
      number: BigInt(number),
      day: '2026-03-01',
      amount: '0.1',
    }));
    const shape = { name: 'VARCHAR', number: 'BIGINT', day: 'VARCHAR', amount: 'VARCHAR' } as const;
    await insertRows(connection, 'counted', shape, rows);
    await insertRows(connection, 'counted', shape, []);
    expect(await queryRows(connection, 'FROM counted')).toEqual(
      rows.map(({ number, day, name }) => ({ number: Number(number), day, amount: '0.100000', name })),
    );
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
});
