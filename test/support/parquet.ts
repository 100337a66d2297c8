import { DuckDBInstance } from '@duckdb/node-api';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The bytes of a Parquet file that holds a query's rows. */
export async function parquet(query: string): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'offerline-parquet-'));
  const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
  const connection = await instance.connect();
  try {
    const path = join(folder, 'a.parquet');
    await connection.run("SET TimeZone = 'UTC'");
    await connection.run(`COPY (${query}) TO '${path}' (FORMAT parquet)`);
    return await readFile(path);
  } finally {
    connection.closeSync();
    instance.closeSync();
    await rm(folder, { recursive: true });
  }
}
