import type { DuckDBConnection } from '@duckdb/node-api';
import { Kysely } from 'kysely';
import { DuckDBDialect } from '../../kit/duckdb/dialect/dialect.ts';
import { queryRows } from '../../kit/duckdb/dialect/rows.ts';
import { inMemory, openDuckDB } from '../../kit/duckdb/open.ts';
import { migrateState } from '../warehouse/migrations.ts';
import { runInputs, makeRunInput, type RunInputName } from './run-inputs.ts';
import { modelQuery } from './model-query.ts';
import { modelNames, readModel, type ModelFolder, type SqlModel } from './sql-model.ts';

export interface DescribedModel {
  folder: 'staging' | 'marts' | 'metrics' | 'console';
  model: SqlModel;
  /** Columns of its rows in their order, with DuckDB's names of their types. */
  columns: { name: string; type: string }[];
}

/** Values of parameters that are moments and days; others get a text. Only types are read, so that any will do. */
const times: Readonly<Record<string, string>> = {
  from: '2026-01-01T00:00:00Z',
  to: '2026-01-02T00:00:00Z',
  window_start: '2026-01-01T00:00:00Z',
  as_of: '2026-01-02T00:00:00Z',
  day_start: '2026-01-01T00:00:00Z',
  day_end: '2026-01-02T00:00:00Z',
  report_date: '2026-01-01',
};

/** Parameters of the table macros of `analytics.duckdb`. */
const macros = {
  figures_by_click_day: '(days := 30)',
  figures_by_country: '(days := 30)',
  figures_by_site: '()',
  figures_explained: '(an_offer_id, newest := NULL)',
  postbacks_by_site: '()',
  reversals_by_source: '(days := 30)',
} as const;

/** Returns the columns of each model by DuckDB's binder, over the migrated schema, where all tables are empty. */
export async function describeModels(): Promise<DescribedModel[]> {
  const database = await openDuckDB(inMemory);
  const { connection } = database;
  const db = new Kysely<unknown>({ dialect: new DuckDBDialect(connection) });
  try {
    await migrateState(db);
    for (const name of Object.keys(runInputs)) await makeRunInput(connection, name as RunInputName);
    await connection.run("ATTACH ':memory:' AS snapshot");
    const described: DescribedModel[] = [];
    const describe = async (folder: DescribedModel['folder'], names: string[]) => {
      for (const name of names) described.push(await describeModel(connection, folder, name));
    };
    await describe('staging', modelNames('staging'));
    // Models that fill tables of the run, and marts that others read of the snapshot, come first.
    const marts = modelNames('marts').map((name) => readModel('marts', name));
    const ofSnapshot = ({ query }: SqlModel) => /\bsnapshot\./.test(query);
    const [first, others] = [
      marts.filter(({ fills }) => fills.length > 0),
      marts.filter(({ fills }) => fills.length === 0),
    ];
    for (const model of [...first, ...others.filter((each) => !ofSnapshot(each)), ...others.filter(ofSnapshot)]) {
      await describe('marts', [model.name]);
      await connection.run(`CREATE TABLE snapshot.${model.name} AS ${runnableQuery('marts', model.name)}`);
    }
    await connection.run('USE snapshot');
    await describe('metrics', modelNames('metrics'));
    for (const [name, names] of Object.entries(macros))
      await connection.run(`CREATE MACRO ${name}${names} AS TABLE ${runnableQuery('macros', name)}`);
    await describe('console', modelNames('console'));
    return described.toSorted((one, other) => pathOf(one).localeCompare(pathOf(other)));
  } finally {
    await db.destroy();
    database.close();
  }
}

function runnableQuery(folder: ModelFolder, name: string): string {
  const names = [...modelQuery(folder, name).matchAll(/\$(\w+)/g)].map(([, parameter = '']) => parameter);
  return modelQuery(folder, name, Object.fromEntries(names.map((parameter) => [parameter, times[parameter] ?? '1'])));
}

async function describeModel(
  connection: DuckDBConnection,
  folder: DescribedModel['folder'],
  name: string,
): Promise<DescribedModel> {
  const model = readModel(folder, name);
  const query = runnableQuery(folder, name);
  const columns = await queryRows<{ column_name: string; column_type: string }>(connection, `DESCRIBE ${query}`);
  for (const table of model.fills) await connection.run(`CREATE TEMP TABLE ${table} AS ${query}`);
  return {
    folder,
    model,
    columns: columns.map(({ column_name, column_type }) => ({ name: column_name, type: column_type })),
  };
}

function pathOf({ folder, model }: DescribedModel): string {
  return `${folder}/${model.name}`;
}
