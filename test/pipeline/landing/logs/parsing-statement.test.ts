import { expect, it } from 'vitest';
import { defaultSettings } from '../../../../src/kit/config/settings.ts';
import type { Run } from '../../../../src/pipeline/runs/stage.ts';
import { click, conversion, LogLanding } from '../../../support/log-landing.ts';

const inBerlin = { ...defaultSettings, logs: { ...defaultSettings.logs, conversions: { time_zone: 'Europe/Berlin' } } };

/**
 * The statement that reads a run's lines of a log into typed events, as DuckDB gets it: four files put it together, and
 * here it can be seen. `npx vitest run test/pipeline/landing/logs --update` writes the files again.
 */
it.each([
  { kind: 'clicks', settings: defaultSettings, file: 'clicks.sql' },
  { kind: 'conversions', settings: defaultSettings, file: 'conversions.sql' },
  { kind: 'conversions', settings: inBerlin, file: 'conversions-with-a-zone.sql' },
])('lines of $kind are read as $file says', async ({ kind, settings, file }) => {
  const statement = (await stagingStatements({ settings })).get(kind) ?? '';
  await expect(`${statement}\n`).toMatchFileSnapshot(`golden/${file}`);
});

/** The statements that stage one click and one conversion, by the kind of log. */
async function stagingStatements(changes: Partial<Run>): Promise<Map<string, string>> {
  await using landing = await LogLanding.create();
  await landing.put('clicks/a.ndjson', [click('c1')]);
  await landing.put('conversions/a.ndjson', [conversion('v1')]);
  const statements = new Map<string, string>();
  const { connection } = landing.state;
  const run = connection.run.bind(connection);
  connection.run = (sql, ...parameters) => {
    const [, kind] = /^COPY \([^]*\/staged-(\w+)\//.exec(sql) ?? [];
    if (kind !== undefined) statements.set(kind, readable(sql, landing));
    return run(sql, ...parameters);
  };
  await landing.ingest({ wallClock: '2026-11-20T00:00:00Z', ...changes });
  expect(await landing.rejects()).toEqual([]);
  return statements;
}

/** Without the test's own folder, and with control characters as they are escaped. */
function readable(sql: string, { data }: LogLanding): string {
  return sql.replaceAll(data.root, '<data>').replaceAll('\u0001', '\\u0001').replaceAll('\u0002', '\\u0002');
}
