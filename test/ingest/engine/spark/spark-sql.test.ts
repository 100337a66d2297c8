import { expect, it } from 'vitest';
import {
  daysQuery,
  duplicatesQuery,
  linesView,
  parseQuery,
  type StagingFolders,
} from '../../../../src/ingest/engine/spark/spark-staging.ts';
import { clickSchema, conversionSchema } from '../../../../src/landing/logs/log-fields.ts';

const folders: StagingFolders = {
  input: '/scratch/input',
  parsed: '/scratch/parsed',
  odd: '/scratch/odd',
  known: '/scratch/known',
  duplicates: '/scratch/duplicates',
  days: '/scratch/days',
};
const reading = { wallClock: '2026-11-18T12:00:00Z' };

it.for([clickSchema(reading), conversionSchema(reading)])(
  '$kind: Spark is sent what stands in the file',
  async (schema) => {
    const { columns, options } = linesView(['/scratch/input/0-1.ndjson']);
    const steps = {
      lines: columns.join(',\n'),
      parsed: parseQuery(schema, folders).query,
      duplicates: duplicatesQuery(schema, folders).query,
      days: daysQuery(schema, folders).query,
    };
    const sent = Object.entries(steps).map(([name, sql]) => `-- ${name}\n${sql.trim()};\n`);
    await expect(sent.join('\n')).toMatchFileSnapshot(`${schema.kind}.sql`);
    expect(options).toEqual({ lineSep: '\n' });
  },
);
