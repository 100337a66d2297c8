/**
 * node bare-open.ts <file.duckdb>
 *
 * The yardstick of a refresh without news: Node starts, loads DuckDB, opens a state and closes it.
 */
import { DuckDBInstance } from '@duckdb/node-api';

const [file = ''] = process.argv.slice(2);
const instance = await DuckDBInstance.create(file);
const connection = await instance.connect();
await connection.run('SELECT 1');
connection.closeSync();
instance.closeSync();
