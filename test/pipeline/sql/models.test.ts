import type { DuckDBConnection } from '@duckdb/node-api';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inMemory, openDuckDB, type OpenDuckDB } from '../../../src/kit/duckdb/open.ts';
import { describeModels, type DescribedModel } from '../../../src/pipeline/sql/describe-models.ts';
import {
  generateMartColumns,
  generateModelRows,
  martColumnsFile,
  modelRowsFile,
} from '../../../src/pipeline/sql/generate-model-rows.ts';
import { stagingBehind } from '../../../src/pipeline/sql/model-query.ts';
import { relationsOf } from '../../../src/pipeline/sql/relations.ts';
import { modelFolders, modelNames, parseModel, readFunctions, readModel } from '../../../src/pipeline/sql/sql-model.ts';
import { analyticsTables, analyticsViews } from '../../../src/pipeline/snapshot/content/published-tables.ts';

const models = modelFolders.flatMap((folder) =>
  modelNames(folder).map((name) => ({ folder, model: readModel(folder, name) })),
);

let database: OpenDuckDB;
let connection: DuckDBConnection;
beforeAll(async () => {
  database = await openDuckDB(inMemory);
  ({ connection } = database);
});
afterAll(() => database.close());

describe('relations', () => {
  it('are those that a query reads and does not define itself', async () => {
    const sql = `WITH a AS (SELECT * FROM clicks) SELECT * FROM a JOIN snapshot.offers USING (offer_id) WHERE x IN (SELECT x FROM sites) AND y < $as_of`;
    expect(await relationsOf(connection, [sql, 'FROM sites', sql])).toEqual([
      ['clicks', 'sites', 'snapshot.offers'],
      ['sites'],
      ['clicks', 'sites', 'snapshot.offers'],
    ]);
    await expect(relationsOf(connection, [sql, 'SELECT FROM'])).rejects.toThrow(/syntax error/);
    expect(() => parseModel('clicks', '-- Clicks.\nSELECT 1')).toThrow(/no "grain:"/);
  });

  it('are staging models where they are written into a query, of every model', async () => {
    expect(models.length).toBeGreaterThan(40);
    const staging = new Set(modelNames('staging'));
    for (const { folder, model } of models) {
      const behind = stagingBehind(folder, model.name);
      const readers = [model, ...behind.map((name) => readModel('staging', name))];
      const read = await relationsOf(
        connection,
        readers.map(({ query }) => query),
      );
      expect(new Set(read.flat().filter((name) => staging.has(name))), `${folder}/${model.name}`).toEqual(
        new Set(behind),
      );
    }
  });
});

describe('functions', () => {
  it('use each of their parameters, and each is used', async () => {
    const functions = [...readFunctions().values()];
    expect(functions.length).toBeGreaterThan(5);
    const texts = [...functions.map(({ expression }) => expression), ...models.map(({ model }) => model.query)];
    for (const { name, purpose, parameters, expression } of functions) {
      expect(purpose, name).toMatch(/^[A-Z].{20,}\.$/);
      for (const parameter of parameters) expect(expression, name).toMatch(new RegExp(`\\b${parameter}\\b`));
      expect(
        texts.filter((text) => text.includes(`${name}(`)),
        `calls of ${name}`,
      ).not.toEqual([]);
    }
  });
});

describe('what models give', () => {
  let described: DescribedModel[];
  beforeAll(async () => {
    described = await describeModels();
  });

  it('has the key of the header, in every model; a published table has one', () => {
    expect(described.map(({ folder, model }) => `${folder}/${model.name}`).toSorted()).toEqual(
      models
        .filter(({ folder }) => ['staging', 'marts', 'metrics', 'console'].includes(folder))
        .map(({ folder, model }) => `${folder}/${model.name}`)
        .toSorted(),
    );
    const wrong = described.filter(({ model, columns }) => {
      const given = new Set(columns.map(({ name }) => name));
      return model.facts['key'] === undefined || model.key.some((column) => !given.has(column));
    });
    expect(wrong.map(({ model }) => model.name)).toEqual([]);
    const published = [...analyticsTables, ...analyticsViews].map((name) => readModel('marts', name));
    expect(published.filter(({ key }) => key.length === 0).map(({ name }) => name)).toEqual([]);
  });

  it('has the columns of the header, in their order', () => {
    const listed = described.filter(({ model }) => Object.keys(model.columns).length > 0);
    expect(listed.length).toBeGreaterThan(17);
    for (const { model, columns } of listed)
      expect(Object.keys(model.columns), model.name).toEqual(columns.map(({ name }) => name));
    const unknown = described.flatMap(({ model, columns }) =>
      [...(model.nullable ?? [])].filter(
        (nullable) => !columns.some(({ name }) => name === nullable) && !/^as in \w+$/.test(nullable),
      ),
    );
    expect(unknown).toEqual([]);
  });

  it('says of each moment that it is UTC, and of what may be NULL when it is', () => {
    const silent = described.flatMap(({ model, columns }) =>
      columns
        .map(({ name, type }) => ({ name, type, meaning: model.columns[name] }))
        .filter(
          ({ name, type, meaning }) =>
            meaning !== undefined &&
            ((type === 'TIMESTAMP WITH TIME ZONE' && !/\bUTC\b/.test(meaning)) ||
              (model.nullable?.has(name) === true && !/\bNULL\b/.test(meaning))),
        )
        .map(({ name }) => `${model.name}.${name}`),
    );
    expect(silent).toEqual([]);
  });

  it('is of the types that are checked in', async () => {
    const current = await readFile(modelRowsFile, 'utf8');
    expect(current, 'run `npm run -s generate`').toBe(await generateModelRows());
    expect(await readFile(martColumnsFile, 'utf8')).toBe(await generateMartColumns());
  });
});
