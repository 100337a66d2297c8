import { expect, it } from 'vitest';
import { queryRows } from '../../../src/kit/duckdb/dialect/rows.ts';
import { inMemory, withDuckDB } from '../../../src/kit/duckdb/open.ts';
import { countRows, dropTempTables, makeTempTable, makeTempView } from '../../../src/kit/duckdb/temp-table.ts';

it('temporary tables are dropped, what lasts and views over files stay', async () => {
  await withDuckDB(inMemory, {}, async (connection) => {
    await connection.run('CREATE TABLE lasting AS SELECT 1 AS n');
    const table = await makeTempTable(connection, 'of_one_stage', 'SELECT unnest([1, 2]) AS n');
    expect(await countRows(connection, table)).toBe(2);
    await makeTempView(connection, 'over_a_file', 'SELECT 3 AS n');
    await dropTempTables(connection);
    expect(await queryRows(connection, 'SELECT table_name FROM duckdb_tables()')).toEqual([{ table_name: 'lasting' }]);
    expect(await queryRows(connection, 'FROM over_a_file')).toEqual([{ n: 3 }]);
  });
});
