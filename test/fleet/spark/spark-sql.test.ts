import { expect, it } from 'vitest';
import { steadyDays } from '../../../src/fleet/spark/local-times.ts';
import {
  daysQuery,
  duplicatesQuery,
  linesView,
  eventsQuery,
  type StagingFolders,
} from '../../../src/fleet/spark/spark-staging.ts';
import { LogLanding } from '../../support/log-landing.ts';
import { clickSchema, conversionSchema } from '../../../src/pipeline/landing/logs/log-fields.ts';

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
      parsed: eventsQuery(schema, folders).query,
      duplicates: duplicatesQuery(schema, folders).query,
      days: daysQuery(schema, folders).query,
    };
    const sent = Object.entries(steps).map(([name, sql]) => `-- ${name}\n${sql.trim()};\n`);
    await expect(sent.join('\n')).toMatchFileSnapshot(`${schema.kind}.sql`);
    expect(options).toEqual({ lineSep: '\n' });
  },
);

it('days beside a change of the clocks are left out, the others have one distance from UTC', async () => {
  await using landing = await LogLanding.create();
  const { connection } = landing.state;
  expect(await steadyDays(connection, reading)).toEqual([]);
  expect(await steadyDays(connection, { ...reading, timeZone: 'Asia/Shanghai' })).toContainEqual({
    from: '1991-09-17 00:00:00',
    to: '2026-11-22 00:00:00',
    ahead: 28_800,
  });
  expect(await steadyDays(connection, { ...reading, timeZone: '+02:00' })).toMatchObject([{ ahead: 7200 }]);
  const berlin = await steadyDays(connection, { ...reading, timeZone: 'Europe/Berlin' });
  expect(berlin.slice(0, 2)).toEqual([
    { from: '2026-10-27 00:00:00', to: '2026-11-22 00:00:00', ahead: 3600 },
    { from: '2026-03-31 00:00:00', to: '2026-10-24 00:00:00', ahead: 7200 },
  ]);
});
