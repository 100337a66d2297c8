import { expect, it } from 'vitest';
import { click, LogLanding } from '../support/log-landing.ts';

it('refuses to go on with a DuckDB that hashes differently, before anything is read', async () => {
  await using landing = await LogLanding.create();
  await landing.put('clicks/0.ndjson', [click('c1')]);
  await landing.ingest();
  await landing.query(`UPDATE warehouse_facts SET value = '1' WHERE fact = 'event_key_of_offerline'`);
  await landing.put('clicks/1.ndjson', [click('c1'), click('c2')]);
  await expect(landing.ingest()).rejects.toThrow('computes other event keys');
  expect(await landing.query('SELECT path FROM ingest_files')).toEqual([{ path: 'clicks/0.ndjson' }]);
});
