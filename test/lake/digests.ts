import { queryRows } from '../../src/kit/duckdb/dialect/rows.ts';
import { openAnalytics } from '../../src/pipeline/snapshot/movable-files.ts';
import { askDuckLake } from './duckdb-with-ducklake.ts';

/** Returns the query for the rows of a relation and their digest. */
export const digest = (relation: string) =>
  `SELECT count(*)::INTEGER AS "rows", md5(coalesce(string_agg(t::VARCHAR, '|' ORDER BY t::VARCHAR), '')) AS digest FROM (FROM ${relation}) AS t`;

/** Asks a snapshot's folder as analysts do without the lake. */
export async function askSnapshot<Row>(folder: string, queries: readonly string[]): Promise<Row[]> {
  const database = await openAnalytics(folder);
  try {
    const rows: Row[] = [];
    for (const query of queries) rows.push(...(await queryRows<Row>(database.connection, query)));
    return rows;
  } finally {
    database.close();
  }
}

/** Returns the names of all tables and views of a snapshot. */
export async function tablesOf(folder: string): Promise<string[]> {
  const all = await askSnapshot<{ name: string }>(folder, [
    'SELECT table_name AS name FROM information_schema.tables ORDER BY name',
  ]);
  return all.map(({ name }) => name);
}

/** Rows and digests of relations of a snapshot. */
export async function digestsOf(folder: string, relations: readonly string[]): Promise<unknown[][]> {
  const all = await askSnapshot<{ rows: number; digest: string }>(folder, relations.map(digest));
  return all.map(({ rows, digest: text }) => [rows, text]);
}

/** Rows and digests of relations of the lake, after statements that open it. */
export async function lakeDigests(opening: readonly string[], relations: readonly string[]): Promise<unknown[]> {
  const answers = await askDuckLake(...opening, ...relations.map(digest));
  return answers.slice(opening.length).map(({ rows }) => rows[0]);
}
