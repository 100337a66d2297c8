/**
 * node bare-read.ts <data directory> <file.ndjson>
 *
 * The yardstick of a catalog: DuckDB alone reads every value of the file, opened as the pipeline opens it.
 */
import { DuckDBInstance } from '@duckdb/node-api';
import { DataDirectory } from '../../src/kit/config/data-directory.ts';
import { readSettings } from '../../src/kit/config/settings.ts';
import { duckdbOptions } from '../../src/kit/duckdb/duckdb-options.ts';
import { quoted } from '../../src/kit/text/sql-text.ts';

const [folder = '', file = ''] = process.argv.slice(2);
const data = new DataDirectory(folder);
const instance = await DuckDBInstance.create(':memory:', duckdbOptions(data, readSettings(data)));
const connection = await instance.connect();
await connection.run(`CREATE TABLE offers AS SELECT * FROM read_json(${quoted(file)})`);
const counted = await connection.runAndReadAll('SELECT count(*)::INTEGER FROM offers');
connection.closeSync();
instance.closeSync();
process.stdout.write(JSON.stringify({ rows: counted.getRows()[0]?.[0] }));
