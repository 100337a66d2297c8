import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { realEffects, type Effects } from '../../../src/kit/files/effects.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { renewEventKeys } from '../../../src/pipeline/recovery/renew-event-keys.ts';
import { quoted } from '../../../src/kit/text/sql-text.ts';
import { eventKey } from '../../../src/kit/vocabulary/event-key.ts';
import { eventFilePaths } from '../../../src/pipeline/warehouse/event-files.ts';
import { click, conversion, LogLanding } from '../../support/log-landing.ts';

const logger = createLogger(undefined, 'silent');

/** A warehouse as it was left before keys were portable. */
async function oldWarehouse(): Promise<LogLanding> {
  const landing = await LogLanding.create();
  await landing.put('clicks/0.ndjson', [click('c1'), click('c2', { clicked_at: '2026-11-17T10:00:00Z' })]);
  await landing.put('conversions/0.ndjson', [conversion('v1')]);
  await landing.ingest();
  for (const kind of ['clicks', 'conversions'] as const) {
    const hashed = kind === 'clicks' ? 'hash(click_id)' : 'hash(conversion_id, kind)';
    for (const path of await eventFilePaths(landing.state.connection, landing.data, kind)) {
      await landing.query(
        `COPY (SELECT * REPLACE (${hashed} AS event_key) FROM read_parquet(${quoted(path)}, hive_partitioning = false)) TO ${quoted(`${path}.old`)} (FORMAT parquet)`,
      );
      await rename(`${path}.old`, path);
    }
  }
  await landing.query('UPDATE event_files SET has_old_keys = true');
  return landing;
}

async function wrongKeys(landing: LogLanding): Promise<number[]> {
  const wrong = [];
  for (const kind of ['clicks', 'conversions'] as const) {
    const files = join(landing.data.events, kind, '*', '*-keys.parquet');
    const [row] = await landing.query<{ rows: number }>(
      `SELECT count(*) AS rows FROM read_parquet(${quoted(files)}) WHERE event_key <> ${eventKey[kind]}`,
    );
    wrong.push(row?.rows ?? -1);
  }
  return wrong;
}

it('gives the events of an older warehouse portable keys, by which their copies are found', async () => {
  await using landing = await oldWarehouse();
  await renewEventKeys({ data: landing.data, logger, effects: realEffects }, landing.state);
  expect(await wrongKeys(landing)).toEqual([0, 0]);
  expect(await landing.query('SELECT DISTINCT has_old_keys FROM event_files')).toEqual([{ has_old_keys: null }]);
  await landing.put('clicks/1.ndjson', [click('c1'), click('c2', { clicked_at: '2026-11-17T10:00:00Z' }), click('c3')]);
  await landing.put('conversions/1.ndjson', [conversion('v1'), conversion('v2')]);
  await landing.ingest();
  expect((await landing.ledger()).slice(2)).toEqual([
    'clicks/1.ndjson loaded 3=1+2+0',
    'conversions/1.ndjson loaded 2=1+1+0',
  ]);
});

it('leaves an older warehouse as it was when it does not come to its end', async () => {
  await using landing = await oldWarehouse();
  const before = await landing.query('SELECT * FROM event_files ORDER BY path');
  const failing: Effects = {
    ...realEffects,
    perform: (step, work) => (step === 'renewed keys: written' ? work() : Promise.reject(new Error(step))),
    files: {
      ...realEffects.files,
      rename: (from, to, step) =>
        to.includes('conversions') ? Promise.reject(new Error('disk full')) : realEffects.files.rename(from, to, step),
    },
  };
  await expect(renewEventKeys({ data: landing.data, logger, effects: failing }, landing.state)).rejects.toThrow(
    'disk full',
  );
  expect(await landing.query('SELECT * FROM event_files ORDER BY path')).toEqual(before);
  await renewEventKeys({ data: landing.data, logger, effects: realEffects }, landing.state);
  expect(await wrongKeys(landing)).toEqual([0, 0]);
});
