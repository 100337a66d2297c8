import { DEFAULT_MIGRATION_LOCK_TABLE, DEFAULT_MIGRATION_TABLE } from 'kysely/migration';
import { sql } from 'kysely';
import type { DatabaseIntrospector, DatabaseMetadataOptions, Kysely, SchemaMetadata, TableMetadata } from 'kysely';

interface ColumnRow {
  schema_name: string;
  table_name: string;
  is_view: boolean;
  column_name: string;
  data_type: string;
  is_nullable: boolean;
  column_default: string | null;
  comment: string | null;
}

/** Tables and views of the opened database, not of attached ones, by name; columns in their order. */
export class DuckDBIntrospector implements DatabaseIntrospector {
  readonly #db: Kysely<unknown>;

  constructor(db: Kysely<unknown>) {
    this.#db = db;
  }

  async getSchemas(): Promise<SchemaMetadata[]> {
    const { rows } = await sql<SchemaMetadata>`
      SELECT schema_name AS name FROM duckdb_schemas()
      WHERE database_name = current_database() AND schema_name NOT IN ('information_schema', 'pg_catalog')
      ORDER BY name`.execute(this.#db);
    return rows;
  }

  async getTables(options: DatabaseMetadataOptions = { withInternalKyselyTables: false }): Promise<TableMetadata[]> {
    const { rows } = await sql<ColumnRow>`
      SELECT columns.schema_name, columns.table_name, views.view_name IS NOT NULL AS is_view,
        columns.column_name, columns.data_type, columns.is_nullable, columns.column_default, columns.comment
      FROM duckdb_columns() AS columns
      LEFT JOIN duckdb_views() AS views
        ON views.database_oid = columns.database_oid AND views.schema_oid = columns.schema_oid
        AND views.view_name = columns.table_name
      WHERE columns.database_name = current_database() AND NOT columns.internal
      ORDER BY columns.schema_name, columns.table_name, columns.column_index`.execute(this.#db);
    const wanted = options.withInternalKyselyTables ? rows : rows.filter((row) => !kyselyTables.has(row.table_name));
    const byTable = Map.groupBy(wanted, (row) => `${row.schema_name}.${row.table_name}`);
    return [...byTable.values()].map(tableOf);
  }
}

const kyselyTables = new Set([DEFAULT_MIGRATION_TABLE, DEFAULT_MIGRATION_LOCK_TABLE]);

function tableOf(rows: ColumnRow[]): TableMetadata {
  const [first] = rows as [ColumnRow];
  return {
    schema: first.schema_name,
    name: first.table_name,
    isView: first.is_view,
    isForeign: false,
    columns: rows.map((row) => ({
      name: row.column_name,
      dataType: row.data_type,
      isNullable: row.is_nullable,
      isAutoIncrementing: false,
      hasDefaultValue: row.column_default !== null,
      ...(row.comment === null ? {} : { comment: row.comment }),
    })),
  };
}
