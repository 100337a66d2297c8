import type { DuckDBConnection } from '@duckdb/node-api';

/** Two words of each row of a chunk. */
export interface WordPairs {
  high: Uint32Array;
  low: Uint32Array;
}

/** Yields the rows of a query, a chunk at a time: two UINTEGER columns, `high` and `low`, without NULL. */
export async function* wordPairs(connection: DuckDBConnection, query: string): AsyncGenerator<WordPairs> {
  const result = await connection.stream(query);
  for (let chunk = await result.fetchChunk(); chunk !== null && chunk.rowCount > 0; chunk = await result.fetchChunk()) {
    const { rowCount } = chunk;
    const [highs, lows] = [chunk.getColumnVector(0), chunk.getColumnVector(1)];
    const pairs = { high: new Uint32Array(rowCount), low: new Uint32Array(rowCount) };
    for (let row = 0; row < rowCount; row++) {
      pairs.high[row] = highs.getItem(row) as number;
      pairs.low[row] = lows.getItem(row) as number;
    }
    yield pairs;
  }
}
