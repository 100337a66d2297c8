import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect } from 'vitest';
import { defaultSettings, type Settings } from '../../../../src/kit/config/settings.ts';
import { it } from '../../../support/landing-test.ts';
import { click, conversion, csv, type LogLanding, ndjson } from '../../../support/log-landing.ts';
import { parquet } from '../../../support/parquet.ts';
import { slow } from '../../../support/slow.ts';

const zoned = (time_zone: string | undefined): Settings => ({
  ...defaultSettings,
  logs: { clicks: { time_zone }, conversions: { time_zone } },
});
const limited = (unpacked_gigabytes: number): Settings => ({ ...defaultSettings, unpacked_gigabytes });
const local = '2026-11-18T10:00:00';

/** `path status rows=accepted+duplicates+rejected conflicts warnings run_id` of every file. */
async function ledger(landing: LogLanding): Promise<string[]> {
  const rows = await landing.query<{ entry: string }>(
    `SELECT concat_ws(' ', path, status, rows || '=' || accepted || '+' || duplicates || '+' || rejected, conflicts, warnings, run_id) AS entry FROM ingest_files ORDER BY file_id`,
  );
  return rows.map(({ entry }) => entry);
}

describe('a log whose rows lacked a time zone', () => {
  it('is read again once there is one: what was refused counts, what counted stays', async ({ landing }) => {
    await landing.put('clicks/a.ndjson', [
      click('a', { device: 'fridge', extra: 1 }),
      click('b', { clicked_at: local, device: 'fridge', extra: 1 }),
      click('a', { user_id: 'other' }),
      'no JSON',
      click('c', { clicked_at: local }),
      click('a', { clicked_at: local }),
      click('c', { clicked_at: local, user_id: 'later' }),
    ]);
    await landing.put('conversions/a.ndjson', [conversion('v', { occurred_at: local }), conversion('w')]);
    await landing.ingest();
    expect(await ledger(landing)).toEqual([
      'clicks/a.ndjson loaded 7=1+1+5 1 2 1',
      'conversions/a.ndjson loaded 2=1+0+1 0 0 1',
    ]);

    expect(await landing.ingest({ settings: zoned('Europe/Berlin') })).toMatchObject({
      files: 0,
      readAgain: 2,
      rows: 3,
      accepted: 3,
      rejected: 0,
    });
    expect(await ledger(landing)).toEqual([
      'clicks/a.ndjson loaded 7=3+3+1 3 3 1',
      'conversions/a.ndjson loaded 2=2+0+0 0 0 1',
    ]);
    expect(await landing.rejects()).toEqual(['clicks/a.ndjson:4 not_json_object']);
    expect(await landing.warnings()).toEqual([
      'clicks/a.ndjson bad_device device 2',
      'clicks/a.ndjson unknown_field extra 2',
    ]);
    expect(await landing.events('clicks', 'click_id, user_id, clicked_at, file_id')).toEqual([
      { click_id: 'a', user_id: 'u', clicked_at: '2026-11-18T10:00:00Z', file_id: 1 },
      { click_id: 'b', user_id: 'u', clicked_at: '2026-11-18T09:00:00Z', file_id: 1 },
      { click_id: 'c', user_id: 'u', clicked_at: '2026-11-18T09:00:00Z', file_id: 1 },
    ]);
    expect(await landing.ids('conversions')).toEqual(['v credit', 'w credit']);
    expect(await landing.query('SELECT sum(clicks) AS clicks FROM click_hourly')).toEqual([{ clicks: 3 }]);
    expect(await landing.query('SELECT conversion_id FROM conversion_events ORDER BY 1')).toEqual([
      { conversion_id: 'v' },
      { conversion_id: 'w' },
    ]);
  });

  it('is read again once, and another zone moves nothing that counted', async ({ landing }) => {
    await landing.put('clicks/a.ndjson', [
      click('a', { clicked_at: local }),
      'no JSON',
      click('b', { clicked_at: '2026-11-19T18:00:00' }),
    ]);
    await landing.ingest();
    await landing.ingest({ settings: zoned('Europe/Berlin') });
    const before = await landing.query('SELECT path, sha256 FROM event_files');
    // The second row is more than a day ahead in either zone.
    expect(await ledger(landing)).toEqual(['clicks/a.ndjson loaded 3=1+0+2 0 0 1']);
    expect(await landing.rejects()).toEqual([
      'clicks/a.ndjson:2 not_json_object',
      'clicks/a.ndjson:3 future_timestamp',
    ]);
    for (const settings of [zoned('Europe/Berlin'), zoned('Asia/Tokyo'), zoned(undefined)]) {
      expect(await landing.ingest({ settings })).toMatchObject({ files: 0, readAgain: 0 });
    }
    expect(await landing.query('SELECT path, sha256 FROM event_files')).toEqual(before);
    expect(await landing.events('clicks', 'clicked_at')).toEqual([{ clicked_at: '2026-11-18T09:00:00Z' }]);
  });

  it('is of any format', async ({ landing }) => {
    const rows = (name: string) => [click(`${name} 1`), click(`${name} 2`, { clicked_at: local })];
    await landing.put('clicks/a.csv', csv(rows('csv')));
    await landing.put('clicks/b.json', JSON.stringify(rows('json')));
    await landing.put('clicks/c.ndjson.gz', gzipSync(ndjson(rows('gzip'))));
    await landing.put(
      'clicks/d.parquet',
      await parquet(
        `SELECT 'parquet' AS click_id, 7 AS offer_id, 's' AS site_key, 'u' AS user_id, TIMESTAMP '2026-11-18 10:00:00' AS clicked_at`,
      ),
    );
    await landing.ingest();
    expect(await ledger(landing)).toEqual([
      'clicks/a.csv loaded 2=1+0+1 0 0 1',
      'clicks/b.json loaded 2=1+0+1 0 0 1',
      'clicks/c.ndjson.gz loaded 2=1+0+1 0 0 1',
      'clicks/d.parquet loaded 1=0+0+1 0 0 1',
    ]);
    await landing.ingest({ settings: zoned('UTC') });
    expect(await ledger(landing)).toEqual([
      'clicks/a.csv loaded 2=2+0+0 0 0 1',
      'clicks/b.json loaded 2=2+0+0 0 0 1',
      'clicks/c.ndjson.gz loaded 2=2+0+0 0 0 1',
      'clicks/d.parquet loaded 1=1+0+0 0 0 1',
    ]);
  });

  it('has more rejects than are kept: nobody knows why, so it is read again', async ({ landing }) => {
    await landing.put('clicks/a.ndjson', [
      ...Array.from({ length: 1500 }, (_, index) => `bad ${index}`),
      click('a', { clicked_at: local }),
    ]);
    await landing.put('clicks/b.ndjson', [
      ...Array.from({ length: 1200 }, (_, index) => click(`b${index}`, { clicked_at: local })),
      ...Array.from({ length: 1100 }, (_, index) => `bad ${index}`),
    ]);
    await landing.ingest();
    await landing.ingest({ settings: zoned('UTC') });
    expect(await ledger(landing)).toEqual([
      'clicks/a.ndjson loaded 1501=1+0+1500 0 0 1',
      'clicks/b.ndjson loaded 2300=1200+0+1100 0 0 1',
    ]);
    expect(
      await landing.query(
        'SELECT path, count(*) AS kept, min(line) AS first, max(line) AS last, min(reason) AS reason FROM rejects GROUP BY path ORDER BY path',
      ),
    ).toEqual([
      { path: 'clicks/a.ndjson', kept: 1000, first: 1, last: 1000, reason: 'not_json_object' },
      { path: 'clicks/b.ndjson', kept: 1000, first: 1201, last: 2200, reason: 'not_json_object' },
    ]);
    expect(await landing.ingest({ settings: zoned('UTC') })).toMatchObject({ readAgain: 0 });
  });

  it('counts nothing twice, whatever came in another file meanwhile or comes with it', async ({ landing }) => {
    await landing.put('clicks/m.ndjson', [
      click('a', { clicked_at: local }),
      click('b', { clicked_at: local }),
      click('c', { clicked_at: local }),
    ]);
    await landing.ingest();
    await landing.put('clicks/z.ndjson', [click('a')]);
    await landing.ingest();
    await landing.put('clicks/d.ndjson', [click('b', { user_id: 'before it by name' })]);
    await landing.put('clicks/y.ndjson', [click('c', { user_id: 'after it' })]);
    await landing.ingest({ settings: zoned('UTC') });
    expect(await ledger(landing)).toEqual([
      'clicks/m.ndjson loaded 3=1+2+0 1 0 1',
      'clicks/z.ndjson loaded 1=1+0+0 0 0 2',
      'clicks/d.ndjson loaded 1=1+0+0 0 0 3',
      'clicks/y.ndjson loaded 1=0+1+0 1 0 3',
    ]);
    expect(await landing.events('clicks', 'click_id, user_id')).toEqual([
      { click_id: 'a', user_id: 'u' },
      { click_id: 'b', user_id: 'before it by name' },
      { click_id: 'c', user_id: 'u' },
    ]);
  });

  it('is left as it is where it is there no more, and found under another name', async ({ landing }) => {
    const gone = await landing.put('clicks/a.ndjson', [click('a', { clicked_at: local })]);
    const moved = await landing.put('clicks/b.ndjson', [click('b', { clicked_at: local })]);
    await landing.ingest();
    await rm(gone);
    await rename(moved, join(landing.data.landing, 'clicks/moved.jsonl'));
    expect(await landing.ingest({ settings: zoned('UTC') })).toMatchObject({ files: 0, readAgain: 1 });
    expect(await ledger(landing)).toEqual([
      'clicks/a.ndjson loaded 1=0+0+1 0 0 1',
      'clicks/b.ndjson loaded 1=1+0+0 0 0 1',
    ]);
    expect(await landing.rejects()).toEqual(['clicks/a.ndjson:1 timestamp_without_offset']);
    await landing.put('clicks/back.ndjson', [click('a', { clicked_at: local })]);
    await landing.ingest({ settings: zoned('UTC') });
    expect(await landing.ids('clicks')).toEqual(['a', 'b']);
  });
});

describe('a log of which no row fits', () => {
  it('for want of a time zone is read again once there is one', async ({ landing }) => {
    await landing.put('clicks/a.ndjson', [click('a', { clicked_at: local })]);
    await landing.ingest();
    // As after a million of such rows.
    await landing.query(`UPDATE ingest_files SET status = 'quarantined', rows = 0, rejected = 0,
      reason = 'no_row_fits: its first 1000001 rows are all rejected, most of them as timestamp_without_offset'`);
    await landing.query('DELETE FROM rejects');
    expect(await landing.ingest()).toMatchObject({ readAgain: 0 });
    expect(await landing.ingest({ settings: zoned('Europe/Berlin') })).toMatchObject({ readAgain: 1, accepted: 1 });
    expect(await landing.ledger()).toEqual(['clicks/a.ndjson loaded 1=1+0+0']);
    expect(await landing.ingest({ settings: zoned('Europe/Berlin') })).toMatchObject({ readAgain: 0 });
  });
});

describe('a file beyond a limit', () => {
  const packed = (id: string) => gzipSync(ndjson(Array.from({ length: 30_000 }, (_, index) => click(`${id}${index}`))));

  it('is read again once the limit is another, and counts then', slow, async ({ landing }) => {
    await landing.put('clicks/a.ndjson.gz', packed('a'));
    await landing.put(
      'offers/net/a.ndjson.gz',
      gzipSync(
        ndjson([
          ...Array.from({ length: 20_000 }, () => ''),
          { external_id: 'x'.repeat(100), title: 'T'.repeat(2_000_000), payout: '1' },
        ]),
      ),
    );
    await landing.ingest({ settings: limited(0.001) });
    expect(await landing.ledger()).toEqual([
      'offers/net/a.ndjson.gz quarantined unpacked_too_large 0=0+0+0',
      'clicks/a.ndjson.gz quarantined unpacked_too_large 0=0+0+0',
    ]);
    expect(await landing.ingest({ settings: limited(0.001) })).toMatchObject({ files: 0, readAgain: 0 });
    await landing.ingest({ settings: limited(0.0011) });
    expect(await landing.query(`SELECT reason FROM ingest_files WHERE kind = 'clicks'`)).toEqual([
      { reason: expect.stringContaining('1100000') as string },
    ]);
    expect(await landing.ingest({ settings: limited(0.0011) })).toMatchObject({ files: 0, readAgain: 0 });
    expect(await landing.ingest({ settings: limited(0.01) })).toMatchObject({
      files: 0,
      readAgain: 2,
      rows: 30_001,
      accepted: 30_001,
    });
    expect(await ledger(landing)).toEqual([
      'offers/net/a.ndjson.gz loaded 1=1+0+0 0 1 5',
      'clicks/a.ndjson.gz loaded 30000=30000+0+0 0 0 5',
    ]);
    expect(await landing.ingest({ settings: limited(0.001) })).toMatchObject({ files: 0, readAgain: 0 });
  });

  it('as a document is read again, too', async ({ landing }) => {
    const clicks = Array.from({ length: 50 }, (_, index) => click(`c-${index}`));
    await landing.put('clicks/a.json', JSON.stringify(clicks));
    await landing.ingest({ settings: limited(0.000001) });
    expect(await landing.ledger()).toEqual(['clicks/a.json quarantined document_too_large 0=0+0+0']);
    await landing.ingest({ settings: limited(0.01) });
    expect(await landing.ledger()).toEqual(['clicks/a.json loaded 50=50+0+0']);
  });

  it('is not read again where its bytes are loaded under another path', async ({ landing }) => {
    const path = await landing.put('clicks/a.json', JSON.stringify([click('a'), click('b')]));
    await landing.ingest({ settings: limited(0.0000001) });
    await rm(path);
    await landing.put('clicks/site_key=wall/a.json', JSON.stringify([click('a'), click('b')]));
    await landing.ingest({ settings: limited(0.01) });
    const loaded = await ledger(landing);
    await landing.put('clicks/a.json', JSON.stringify([click('a'), click('b')]));
    expect(await landing.ingest({ settings: limited(0.01) })).toMatchObject({ files: 0, readAgain: 0 });
    expect(await ledger(landing)).toEqual(loaded);
    expect(loaded.filter((entry) => entry.includes(' loaded '))).toHaveLength(1);
  });
});
