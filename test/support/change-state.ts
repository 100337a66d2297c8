import { DuckDBInstance } from '@duckdb/node-api';
import type { DataDirectory } from '../../src/kit/config/data-directory.ts';

/** Changes the warehouse's state behind the pipeline's back, between runs. */
export async function changeState({ stateFile }: DataDirectory, statement: string): Promise<void> {
  const instance = await DuckDBInstance.create(stateFile);
  const connection = await instance.connect();
  try {
    await connection.run(statement);
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}
