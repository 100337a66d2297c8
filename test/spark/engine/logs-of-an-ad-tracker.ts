import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { defaultSettings } from '../../../src/kit/config/settings.ts';
import { Random } from '../../../src/demo/generate/network/random.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { differences } from '../../fault/lives/published-tables.ts';
import { csv, LogLanding, ndjson } from '../../support/log-landing.ts';
import { ingested } from './same-as-duckdb.ts';
import type { SharedDriver } from './shared-driver.ts';

const rows = 12_000;
const begin = Date.UTC(2026, 2, 1, 14);
const seconds = 3 * 86_400;

/**
 * Clicks as a mobile ad tracker's competition data has them: whole seconds without an offset, a few apps and channels
 * that have nearly all of them, one address for many users, bursts, rows that come twice, few conversions.
 */
function adTrackerLogs(seed: number) {
  const random = new Random(seed);
  const few = (most: number) => 1 + Math.floor(most * random.next() ** 4);
  const local = (second: number) => new Date(begin + second * 1000).toISOString().slice(0, 19).replace('T', ' ');
  const clicks = Array.from({ length: rows }, (_, index) => {
    const second = Math.floor((seconds * index) / rows);
    return {
      click_id: `td-${random.next() < 0.01 ? Math.max(0, index - few(50)) : index}`,
      offer_id: few(400),
      site_key: `channel-${few(180)}`,
      user_id: String(few(200_000)),
      clicked_at: local(random.next() < 0.3 ? second - (second % 60) : second),
      country: 'US',
      device: random.pick(['android', 'ios', 'Android']),
      ip: `198.51.${few(250)}.${few(250)}`,
      sub1: `os-${few(800)}`,
    };
  });
  const conversions = clicks
    .filter(() => random.next() < 0.004)
    .map(({ click_id, clicked_at }, index) => ({
      conversion_id: `attributed-${index}`,
      click_id,
      kind: 'credit',
      occurred_at: `${clicked_at}-05:00`.replace(' ', 'T'),
      payout: random.pick(['0.40', '1.1', '12']),
    }));
  return { clicks, conversions };
}

/** Every half hour of days on which clocks there are set ahead and back: times that come twice or never. */
const clocksChange = ['2025-11-02', '2026-03-08'].flatMap((day) =>
  Array.from({ length: 48 }, (_, half) => ({
    click_id: `${day}-${half}`,
    offer_id: 1,
    site_key: 'channel-1',
    user_id: '1',
    clicked_at: `${day} ${String(half >> 1).padStart(2, '0')}:${half % 2 === 0 ? '00' : '30'}:00`,
  })),
);

export function tryLogsOfAnAdTracker(shared: SharedDriver): void {
  it('logs of an ad tracker, in local time, come out as by DuckDB', async () => {
    const { clicks, conversions } = adTrackerLogs(11);
    const [first, second, third] = [0, 1, 2].map((part) => clicks.slice((part * rows) / 3, ((part + 1) * rows) / 3));
    const settings = {
      ...defaultSettings,
      logs: { ...defaultSettings.logs, clicks: { time_zone: 'America/New_York' } },
    };
    const found: Map<string, string[]>[] = [];
    let told = '';
    const logger = createLogger({ write: (line) => (told += line) !== '' });
    for (const engine of [undefined, shared.engine]) {
      await using landing = await LogLanding.create();
      const put = (path: string, content: string | Uint8Array) => landing.putAt(path, content, '2026-11-18T11:00:00Z');
      await put('clicks/a.csv', csv(first ?? []));
      await put('clicks/b.ndjson.gz', gzipSync(ndjson(second ?? [])));
      await put('conversions/a.ndjson', ndjson(conversions.slice(0, 20)));
      await landing.ingest({ settings, logger }, { engine });
      await put('clicks/c.ndjson', ndjson([...(third ?? []), ...(second ?? []).slice(-500)]));
      await put('clicks/d.ndjson', ndjson(clocksChange));
      await put('conversions/b.csv', csv(conversions));
      await landing.ingest({ settings, logger }, { engine });
      found.push(await ingested(landing));
    }
    const [byDuckdb = new Map<string, string[]>(), bySpark = new Map<string, string[]>()] = found;
    expect(byDuckdb.get('clicks')?.length).toBeGreaterThan(rows * 0.9);
    // Spark decided all but what stands beside a night in which the clocks change.
    expect(told).toContain('"kind":"clicks","lines":8000,"odd":0');
    expect(told).toContain(`"kind":"clicks","lines":4596,"odd":${clocksChange.length}`);
    expect(differences(byDuckdb, bySpark)).toEqual([]);
  });
}
