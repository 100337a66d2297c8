import { expect } from 'vitest';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { it } from '../../support/landing-test.ts';
import { click, conversion } from '../../support/log-landing.ts';

const rounded = '1.23457E+17';

it('ids that a spreadsheet has rounded are counted by field, and the pattern is named', async ({ landing }) => {
  await landing.put('clicks/a.csv', [
    'click_id,offer_id,site_key,user_id,clicked_at',
    `${rounded},7,s,u,2026-11-18T10:00:00Z`,
    `${rounded},7,s,v,2026-11-18T10:01:00Z`,
    'c2,7,s,"1,23457E+17",2026-11-18T10:00:00Z',
    'c3,7,s,u,2026-11-18T10:00:00Z',
  ]);
  await landing.put('clicks/good.ndjson', [
    click('1e10'),
    click('a1.5E+10'),
    click('E+10'),
    click('1.5E+'),
    click('1.5E+10x'),
    click('8E+7'),
    click('by-name', { offer_id: undefined, source: 'net', external_id: '1.01e+12' }),
  ]);
  await landing.put('conversions/a.ndjson', [
    conversion('net:1.234e+17', { click_id: rounded }),
    conversion(`net~${rounded}`, { click_id: 'c2' }),
    conversion('123456789012345678'),
  ]);
  await landing.put('offers/net/a.csv', [
    'external_id,title,payout,events',
    `${rounded},A,1,`,
    `b,B,,"[{""event_id"":""${rounded}"",""description"":""E"",""payout"":""1""}]"`,
    'c,C,1,',
  ]);
  const logged: object[] = [];
  const logger = createLogger({ write: (line: string) => logged.push(JSON.parse(line) as object) > 0 }, 'warn');
  await landing.ingest({ logger });
  expect(await landing.warnings()).toEqual([
    'clicks/a.csv id_like_1.23457E+17 click_id 1',
    'clicks/a.csv id_like_1.23457E+17 user_id 1',
    'clicks/good.ndjson id_like_1.23457E+17 external_id 1',
    'conversions/a.ndjson id_like_1.23457E+17 click_id 1',
    'conversions/a.ndjson id_like_1.23457E+17 conversion_id 2',
    'offers/net/a.csv id_like_1.23457E+17 events.event_id 1',
    'offers/net/a.csv id_like_1.23457E+17 external_id 1',
  ]);
  expect(await landing.query(`SELECT path, warnings FROM ingest_files WHERE kind = 'clicks' ORDER BY path`)).toEqual([
    { path: 'clicks/a.csv', warnings: 2 },
    { path: 'clicks/good.ndjson', warnings: 1 },
  ]);
  expect(logged).toHaveLength(8);
  // Two clicks whose ids a spreadsheet made one.
  expect(logged.at(-1)).toMatchObject({
    file: 'clicks/a.csv',
    rows: 1,
    msg: expect.stringMatching(/click_id/) as string,
  });
  expect(logged[0]).toMatchObject({
    file: 'clicks/a.csv',
    field: 'click_id',
    rows: 1,
    msg: expect.stringMatching(/look like 1\.23457E\+17: a spreadsheet .* export them as text/) as string,
  });
  await landing.put('clicks/later.ndjson', [click('c9')]);
  await landing.ingest({ logger });
  expect(logged).toHaveLength(8);
});
