/**
 * node bare-copy.ts <data directory> <target.parquet>
 *
 * The yardstick of a refresh: DuckDB alone reads the click files of a data directory and writes them as Parquet, the
 * columns given with their types and in whatever order, opened as the pipeline opens it (threads, memory).
 */
import { DuckDBInstance } from '@duckdb/node-api';
import { DataDirectory } from '../../src/kit/config/data-directory.ts';
import { readSettings } from '../../src/kit/config/settings.ts';
import { findLandingFiles } from '../../src/pipeline/landing/files/find-files.ts';
import { quoted, quotedList } from '../../src/kit/text/sql-text.ts';
import { eventColumns } from '../../src/pipeline/warehouse/event-files.ts';
import { duckdbOptions } from '../../src/kit/duckdb/duckdb-options.ts';

const [folder = '', target = ''] = process.argv.slice(2);
const data = new DataDirectory(folder);
const { files } = await findLandingFiles(data.landing);
const clicks = files.filter(({ kind }) => kind === 'clicks').map(({ absolutePath }) => absolutePath);
const instance = await DuckDBInstance.create(':memory:', duckdbOptions(data, readSettings(data)));
const connection = await instance.connect();
const { event_key: _key, file_id: _file, ...columns } = eventColumns.clicks;
const shape = Object.entries(columns).map(([name, type]) => `${name}: '${type}'`);
await connection.run('SET preserve_insertion_order = false');
const { rowsChanged } = await connection.run(
  `COPY (SELECT * FROM read_json(${quotedList(clicks)}, columns = {${shape.join(', ')}}, format = 'newline_delimited')) TO ${quoted(target)}`,
);
connection.closeSync();
instance.closeSync();
process.stdout.write(JSON.stringify({ rows: rowsChanged }));
