import { z } from 'zod';
import { UsageError } from '../../../../kit/errors/errors.ts';
import { defineTool, snapshotParameter } from '../tool.ts';

interface SqlFunctionRow {
  name: string;
  parameters: string;
  purpose: string | null;
}

/** Functions of the snapshot that take parameters, such as `figures_explained(17)`. */
const functionsOf = `SELECT function_name AS name, array_to_string(parameters, ', ') AS parameters, comment AS purpose
FROM duckdb_functions() WHERE NOT internal AND database_name = current_catalog() ORDER BY name`;

/** Tables of a snapshot and what their columns mean, from its own comments. */
export const tablesTool = defineTool({
  name: 'tables',
  title: 'Tables and the meanings of their columns',
  description:
    'Without `table`: all tables and functions of a snapshot, what a row of each is (the grain), and how many rows it has. ' +
    'With `table`: its columns with type, unit and meaning, and what it is computed from.',
  input: z.strictObject({
    table: z.string().max(200).optional().describe('Name of a table, such as offer_stats_2d'),
    snapshot: snapshotParameter,
  }),
  answer: ({ table }, asked) =>
    asked.open(async (connection) => {
      const counts = asked.kept.manifest.row_counts;
      const tables = await asked.rows(connection, 'tables');
      if (table === undefined)
        return {
          tables: tables.map(({ name, purpose, columns }) => ({ name, purpose, columns, rows: counts[name] ?? null })),
          functions: await asked.ask<SqlFunctionRow>(connection, functionsOf),
        };
      const named = tables.find(({ name }) => name === table);
      if (named === undefined)
        throw new UsageError(
          `the snapshot has no table "${table}"; it has ${tables.map(({ name }) => name).join(', ')}`,
        );
      const neighbours = await asked.rows(connection, 'table_lineage', { name: table });
      return {
        table,
        purpose: named.purpose,
        rows: counts[table] ?? null,
        columns: await asked.rows(connection, 'table_columns', { name: table }),
        computed_from: neighbours.filter(({ direction }) => direction === 'reads').map(({ name }) => name),
      };
    }),
});
