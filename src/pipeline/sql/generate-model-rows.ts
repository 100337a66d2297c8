/**
 * Writes `model-rows.ts` and `mart-columns.ts` from the models of `sql/`: `npm run -s generate` after
 * every change of a model's columns. A test compares the checked-in files with it.
 */
import { writeFile } from 'node:fs/promises';
import { packageFile } from '../../kit/files/package-files.ts';
import { valueType } from '../warehouse/generate-tables.ts';
import { describeModels, type DescribedModel } from './describe-models.ts';
import { readModel } from './sql-model.ts';

export const modelRowsFile = packageFile('src/pipeline/sql/model-rows.ts');
export const martColumnsFile = packageFile('src/pipeline/sql/mart-columns.ts');

/** Rows of staging models never leave SQL. */
const folders = ['marts', 'metrics', 'console'] as const;

/** Returns the text of `model-rows.ts`. */
export async function generateModelRows(): Promise<string> {
  const described = await describeModels();
  const interfaces = folders.map((folder) => {
    const rows = described.filter((each) => each.folder === folder).map(rowType);
    return `  ${folder}: {\n${rows.join('')}  };\n`;
  });
  return [
    '// Generated from the models of sql/ by src/pipeline/sql/generate-model-rows.ts: do not edit, generate it again.\n',
    '\n/**\n * Rows of the models by folder and name. `duckdb/dialect/rows.ts` maps column types to JavaScript. Headers name the\n',
    ' * columns that may be null; without that line all but the key may be. A query casts a number that JavaScript cannot\n',
    ' * hold to VARCHAR.\n */\n',
    `export interface ModelRows {\n${interfaces.join('')}}\n`,
  ].join('');
}

/** Returns the text of `mart-columns.ts`. */
export async function generateMartColumns(): Promise<string> {
  const marts = (await describeModels()).filter(({ folder }) => folder === 'marts');
  const tables = marts.map(({ model, columns }) => {
    const lines = columns.map(({ name, type }) => `    ${name}: '${type}',\n`);
    return `  ${model.name}: {\n${lines.join('')}  },\n`;
  });
  return [
    '// Generated from the models of sql/ by src/pipeline/sql/generate-model-rows.ts: do not edit, generate it again.\n',
    "\n/** Columns of each mart in their order, with DuckDB's names of their types. */\n",
    `export const martColumns = {\n${tables.join('')}} as const;\n`,
  ].join('');
}

function rowType({ model, columns }: DescribedModel): string {
  const fields = columns.map(
    ({ name, type }) => `      ${name}: ${jsType(type)}${mayBeNull(model, name) ? ' | null' : ''};\n`,
  );
  return `    ${model.name}: {\n${fields.join('')}    };\n`;
}

function mayBeNull({ key, nullable }: DescribedModel['model'], column: string): boolean {
  if (nullable === undefined) return !key.includes(column);
  if (nullable.has(column)) return true;
  return [...nullable].some((entry) => {
    const [, mart] = /^as in (\w+)$/.exec(entry) ?? [];
    return mart !== undefined && mayBeNull(readModel('marts', mart), column);
  });
}

/** Hashes fill all of their 64 bits. */
function jsType(type: string): string {
  if (type === 'UBIGINT') return 'never';
  return type.startsWith('TIMESTAMP WITH TIME ZONE') ? 'string' : valueType(type);
}

if (import.meta.main) {
  await writeFile(modelRowsFile, await generateModelRows());
  await writeFile(martColumnsFile, await generateMartColumns());
}
