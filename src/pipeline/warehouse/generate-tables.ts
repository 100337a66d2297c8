/**
 * Writes `tables.ts` from the migrated schema: `npm run -s generate` after every new migration.
 * A test compares the checked-in file with it.
 */
import { writeFile } from 'node:fs/promises';
import { packageFile } from '../../kit/files/package-files.ts';
import { Kysely, sql } from 'kysely';
import type { ColumnMetadata, TableMetadata } from 'kysely';
import { DuckDBDialect } from '../../kit/duckdb/dialect/dialect.ts';
import { inMemory, withDuckDB } from '../../kit/duckdb/open.ts';
import { migrateState } from './migrations.ts';

export const tablesFile = packageFile('src/pipeline/warehouse/tables.ts');

const integers = ['TINYINT', 'SMALLINT', 'INTEGER', 'BIGINT', 'HUGEINT', 'DOUBLE'];
const texts = ['VARCHAR', 'JSON', 'DATE', 'DECIMAL'];

interface CheckRow {
  table_name: string;
  column_names: string[];
  expression: string;
}

/** Returns the text of `tables.ts`. */
export async function generateTables(): Promise<string> {
  return withDuckDB(inMemory, {}, async (connection) => {
    const db = new Kysely<unknown>({ dialect: new DuckDBDialect(connection) });
    await migrateState(db);
    const tables = await db.introspection.getTables();
    const { rows: checks } = await sql<CheckRow>`
      SELECT table_name, constraint_column_names AS column_names, expression
      FROM duckdb_constraints() WHERE constraint_type = 'CHECK'`.execute(db);
    return render(tables, checks);
  });
}

function render(tables: TableMetadata[], checks: CheckRow[]): string {
  const interfaces = tables.map((table) => {
    const columns = table.columns.map(
      (column) =>
        `  ${column.name}: ${columnType(
          column,
          checks.filter(({ table_name }) => table_name === table.name),
        )};\n`,
    );
    return `export interface ${interfaceName(table.name)} {\n${columns.join('')}}\n`;
  });
  const index = tables.map(({ name }) => `  ${name}: ${interfaceName(name)};\n`);
  const kyselyTypes = ['ColumnType', 'Generated'].filter((type) =>
    interfaces.some((text) => text.includes(`${type}<`)),
  );
  return [
    '// Generated from sql/migrations by src/pipeline/warehouse/generate-tables.ts: do not edit, generate it again.\n',
    ...(kyselyTypes.length === 0 ? [] : [`import type { ${kyselyTypes.join(', ')} } from 'kysely';\n`]),
    '\n/**\n * The tables of state.duckdb by name. `duckdb/dialect/rows.ts` maps column types to JavaScript.\n',
    ' * A column of nanoseconds (`_ns`) is written as bigint and read by casting it to VARCHAR.\n */\n',
    `export interface Tables {\n${index.join('')}}\n`,
    ...interfaces.map((text) => `\n${text}`),
  ].join('');
}

function columnType(column: ColumnMetadata, checks: CheckRow[]): string {
  // Nanoseconds since the epoch exceed what a number holds exactly: written as bigint, read as `column::VARCHAR`.
  if (column.name.endsWith('_ns')) return 'ColumnType<never, bigint>';
  const nullable = column.isNullable ? ' | null' : '';
  const type = column.dataType.startsWith('TIMESTAMP WITH TIME ZONE')
    ? `ColumnType<string${nullable}, string | Date${nullable}>`
    : `${choices(column, checks) ?? valueType(column.dataType)}${nullable}`;
  return column.hasDefaultValue ? `Generated<${type}>` : type;
}

/** The literals of `CHECK (column IN ('a', 'b'))`. */
function choices(column: ColumnMetadata, checks: CheckRow[]): string | undefined {
  for (const { column_names, expression } of checks) {
    const list = /^\(?\w+ IN \(('[^']*'(?:, '[^']*')*)\)\)?$/.exec(expression)?.[1];
    if (column_names.length === 1 && column_names[0] === column.name && list !== undefined)
      return list.replaceAll(', ', ' | ');
  }
  return undefined;
}

export function valueType(dataType: string): string {
  if (dataType.endsWith('[]')) return `${valueType(dataType.slice(0, -2))}[]`;
  const name = dataType.replace(/\(.*$/, '');
  if (integers.includes(name)) return 'number';
  if (texts.includes(name)) return 'string';
  if (name === 'BOOLEAN') return 'boolean';
  throw new Error(`${dataType} has no type in generate-tables.ts yet: add it beside its conversion in dialect/rows.ts`);
}

function interfaceName(table: string): string {
  return `${table.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())}Table`;
}

if (import.meta.main) await writeFile(tablesFile, await generateTables());
