import { describe, expect } from 'vitest';
import { it } from '../../../support/landing-test.ts';
import { click, conversion, csv, type LogLanding } from '../../../support/log-landing.ts';
import { slow } from '../../../support/slow.ts';

/** `name rows=accepted+duplicates+rejected conflicts` of every file, in the ledger's order. */
async function counts(landing: LogLanding): Promise<string[]> {
  const rows = await landing.query<{ entry: string }>(
    `SELECT parse_filename(path) || ' ' || rows || '=' || accepted || '+' || duplicates || '+' || rejected || ' ' || conflicts AS entry FROM ingest_files ORDER BY file_id`,
  );
  return rows.map(({ entry }) => entry);
}

describe('clicks that come twice', () => {
  it('within a file: the first line wins, and only a copy that says something else is a conflict', async ({
    landing,
  }) => {
    await landing.put('clicks/a.ndjson', [
      click('a', { user_id: 'first' }),
      click('b'),
      click('a', { user_id: 'second' }),
      click('a', { user_id: 'first' }),
      click('b'),
      click('a', { user_id: 'a' }),
    ]);
    await landing.ingest();
    expect(await counts(landing)).toEqual(['a.ndjson 6=2+4+0 2']);
    expect(await landing.events('clicks', 'click_id, user_id')).toEqual([
      { click_id: 'a', user_id: 'first' },
      { click_id: 'b', user_id: 'u' },
    ]);
  });

  it('within CSV and a document: the first row wins', async ({ landing }) => {
    await landing.put(
      'clicks/a.csv',
      csv([click('a', { user_id: 'z' }), click('a', { user_id: 'b' }), click('a', { user_id: 'a' })]),
    );
    await landing.put(
      'clicks/b.json',
      JSON.stringify([click('b', { user_id: 'z' }), click('b', { user_id: 'b' }), click('b', { user_id: 'a' })]),
    );
    await landing.ingest();
    expect(await counts(landing)).toEqual(['a.csv 3=1+2+0 2', 'b.json 3=1+2+0 2']);
    expect(await landing.events('clicks', 'user_id')).toEqual([{ user_id: 'z' }, { user_id: 'z' }]);
  });

  it('across files of a run: the first by path, then line, wins, whatever the format', async ({ landing }) => {
    await landing.put('clicks/z/a.ndjson', [click('a', { user_id: 'z/a' }), click('b', { user_id: 'z/a' })]);
    await landing.put(
      'clicks/b.csv',
      csv([click('c', { user_id: 'b:1' }), click('a', { user_id: 'b:2' }), click('a', { user_id: 'b:3' })]),
    );
    await landing.put('clicks/c.ndjson', [
      click('c', { user_id: 'c:1' }),
      click('b', { user_id: 'c:2' }),
      click('b', { user_id: 'a' }),
    ]);
    await landing.ingest();
    expect(await counts(landing)).toEqual(['b.csv 3=2+1+0 1', 'c.ndjson 3=1+2+0 2', 'a.ndjson 2=0+2+0 2']);
    expect((await landing.events('clicks', 'user_id')).map(({ user_id }) => user_id)).toEqual(['b:2', 'c:2', 'b:1']);
  });

  it('across runs: the one ingested first wins, whatever its path, and whatever day the copy claims', async ({
    landing,
  }) => {
    await landing.put('clicks/z.ndjson', [click('a'), click('b')]);
    await landing.ingest();
    await landing.put('clicks/a.ndjson', [click('a', { clicked_at: '2026-11-01T10:00:00Z' }), click('b'), click('c')]);
    await landing.ingest();
    await landing.put('clicks/b.ndjson', [
      click('c', { clicked_at: '2026-11-19T00:00:00Z' }),
      click('c', { clicked_at: '2026-11-19T00:00:00Z' }),
    ]);
    await landing.ingest();
    expect(await counts(landing)).toEqual(['z.ndjson 2=2+0+0 0', 'a.ndjson 3=1+2+0 1', 'b.ndjson 2=0+2+0 2']);
    expect(new Set((await landing.events('clicks', 'clicked_at')).map(({ clicked_at }) => clicked_at))).toEqual(
      new Set(['2026-11-18T10:00:00Z']),
    );
    expect(await landing.query('SELECT day, sum(rows) AS rows FROM event_files GROUP BY day')).toEqual([
      { day: '2026-11-18', rows: 3 },
    ]);
  });

  it('within a run with another day in the copy: the first line wins, not the earlier day', async ({ landing }) => {
    await landing.put('clicks/a.ndjson', [
      click('a', { clicked_at: '2026-11-18T10:00:00Z' }),
      click('a', { clicked_at: '2026-11-01T10:00:00Z' }),
    ]);
    await landing.ingest();
    expect(await counts(landing)).toEqual(['a.ndjson 2=1+1+0 1']);
    expect(await landing.events('clicks', 'clicked_at')).toEqual([{ clicked_at: '2026-11-18T10:00:00Z' }]);
  });

  it('a thousand times', async ({ landing }) => {
    await landing.put(
      'clicks/a.ndjson',
      Array.from({ length: 1000 }, () => click('a')),
    );
    await landing.put('clicks/b.ndjson', [
      ...Array.from({ length: 1000 }, (_, index) => click('b', { user_id: `u${999 - index}` })),
      ...Array.from({ length: 1000 }, () => click('a', { sub1: 'x' })),
    ]);
    await landing.ingest();
    expect(await counts(landing)).toEqual(['a.ndjson 1000=1+999+0 0', 'b.ndjson 2000=1+1999+0 1999']);
    expect(await landing.events('clicks', 'user_id')).toEqual([{ user_id: 'u' }, { user_id: 'u999' }]);
  });

  it('a rejected row does not keep a good one of the same id out, before or after it', async ({ landing }) => {
    await landing.put('clicks/a.ndjson', [click('a', { offer_id: 0 }), click('a'), click('a', { offer_id: 0 })]);
    await landing.ingest();
    expect(await counts(landing)).toEqual(['a.ndjson 3=1+0+2 0']);
  });

  it('the same thing written differently is no conflict', async ({ landing }) => {
    await landing.put('clicks/a.ndjson', [
      click('a', { country: 'DE', device: 'ios' }),
      click('a', {
        country: 'de',
        device: 'IOS',
        clicked_at: '2026-11-18T11:00:00.000+01:00',
        offer_id: '7',
        note: 'unknown field',
      }),
    ]);
    await landing.ingest();
    expect(await counts(landing)).toEqual(['a.ndjson 2=1+1+0 0']);
  });

  it('of long rows cost no more memory than of short ones: their content is not held', slow, async ({ landing }) => {
    // Room to stage these rows, but none to hold them a second time, and no disk to spill to.
    await landing.query(`SET memory_limit = '550MB'; SET max_temp_directory_size = '0B'`);
    const rows = Array.from({ length: 40_000 }, (_, index) =>
      click(`c${index}`, { user_agent: `${index} `.padEnd(4000, 'Mozilla/5.0 ') }),
    );
    await landing.put('clicks/a.ndjson', rows);
    await landing.ingest();
    await landing.put('clicks/b.ndjson', [...rows.slice(1), click('c0', { user_agent: 'other' }), click('new')]);
    await landing.ingest();
    expect(await counts(landing)).toEqual(['a.ndjson 40000=40000+0+0 0', 'b.ndjson 40001=1+40000+0 1']);
  });

  it('are counted once in the roll-up', async ({ landing }) => {
    await landing.put('clicks/a.ndjson', [
      click('a'),
      click('a'),
      click('b', { clicked_at: '2026-11-18T10:59:59.999999Z' }),
      click('c', { offer_id: undefined, source: 'net', external_id: 'x' }),
    ]);
    await landing.ingest();
    await landing.put('clicks/b.ndjson', [click('a'), click('d'), click('e', { clicked_at: '2026-11-18T11:00:00Z' })]);
    await landing.ingest();
    expect(
      await landing.query('SELECT hour, offer_id, source, external_id, clicks FROM click_hourly ORDER BY ALL'),
    ).toEqual([
      { hour: '2026-11-18T10:00:00Z', offer_id: 0, source: 'net', external_id: 'x', clicks: 1 },
      { hour: '2026-11-18T10:00:00Z', offer_id: 7, source: '', external_id: '', clicks: 3 },
      { hour: '2026-11-18T11:00:00Z', offer_id: 7, source: '', external_id: '', clicks: 1 },
    ]);
  });
});

describe('conversions', () => {
  it('are unique by id and kind', async ({ landing }) => {
    await landing.put('conversions/a.ndjson', [
      conversion('x', { payout: 1 }),
      conversion('x', { kind: 'reject' }),
      conversion('x', { payout: '1.00' }),
      conversion('x', { payout: 2 }),
      conversion('x', { kind: 'chargeback', occurred_at: '2026-11-19T00:00:00Z' }),
    ]);
    await landing.ingest();
    await landing.put('conversions/b.ndjson', [
      conversion('x', { kind: 'reject', occurred_at: '2026-10-01T00:00:00Z' }),
      conversion('y'),
    ]);
    await landing.ingest();
    expect(await counts(landing)).toEqual(['a.ndjson 5=3+2+0 1', 'b.ndjson 2=1+1+0 1']);
    expect(await landing.query('SELECT conversion_id, kind, payout FROM conversion_events ORDER BY ALL')).toEqual([
      { conversion_id: 'x', kind: 'chargeback', payout: null },
      { conversion_id: 'x', kind: 'credit', payout: '1.000000' },
      { conversion_id: 'x', kind: 'reject', payout: null },
      { conversion_id: 'y', kind: 'credit', payout: null },
    ]);
  });

  it('wait for their click over runs, and their days are computed again when it comes', async ({ landing }) => {
    const waiting = () =>
      landing.query(
        'SELECT click_id FROM conversion_events WHERE click_id NOT IN (SELECT click_id FROM conversion_clicks) ORDER BY ALL',
      );
    await landing.put('conversions/a.ndjson', [
      conversion('x', { click_id: 'c1', occurred_at: '2026-11-10T10:00:00Z' }),
      conversion('x', { click_id: 'c1', kind: 'reject', occurred_at: '2026-11-12T10:00:00Z' }),
      conversion('y', { click_id: 'c2', occurred_at: '2026-11-11T10:00:00Z' }),
    ]);
    await landing.ingest();
    expect(await waiting()).toEqual([{ click_id: 'c1' }, { click_id: 'c1' }, { click_id: 'c2' }]);
    await landing.query('DELETE FROM dirty_days');
    await landing.put('clicks/a.ndjson', [
      click('c3'),
      click('c1', { user_id: 'late' }),
      click('c1', { user_id: 'later' }),
    ]);
    await landing.ingest();
    expect(await waiting()).toEqual([{ click_id: 'c2' }]);
    expect(await landing.query('SELECT click_id, user_id FROM conversion_clicks')).toEqual([
      { click_id: 'c1', user_id: 'late' },
    ]);
    expect(await landing.query('SELECT day FROM dirty_days ORDER BY day')).toEqual([
      { day: '2026-11-10' },
      { day: '2026-11-12' },
      { day: '2026-11-18' },
    ]);
    // A click that was ingested long ago, for an event of this run.
    await landing.put('conversions/b.ndjson', [conversion('z', { click_id: 'c3' })]);
    await landing.ingest();
    await landing.put('clicks/b.ndjson', [click('c2')]);
    await landing.ingest();
    expect(await waiting()).toEqual([]);
    expect(await landing.query('SELECT click_id FROM conversion_clicks ORDER BY click_id')).toEqual([
      { click_id: 'c1' },
      { click_id: 'c2' },
      { click_id: 'c3' },
    ]);
  });
});
