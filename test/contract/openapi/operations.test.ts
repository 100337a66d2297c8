import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { packageVersion } from '../../../src/kit/files/package-files.ts';
import type { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { makeCurrent, temporaryData, writeSnapshot } from '../../support/published-snapshot.ts';
import { serviceForTest } from '../../support/running-service.ts';
import { credentials, publishSmallNetwork } from '../../support/small-network.ts';

let data: DataDirectory;

beforeEach(async () => {
  const temporary = await temporaryData();
  data = temporary.data;
  onTestFinished(temporary.remove);
  await publishSmallNetwork(data);
});

describe('readyz', () => {
  test('a snapshot older than the configured age is not ready, and is served all the same', async () => {
    let now = Date.UTC(2026, 10, 20, 12, 45);
    const running = await serviceForTest(data, { snapshot_max_age_minutes: 45 }, () => now);
    expect(await running.json('/readyz')).toMatchObject({ status: 'ready' });
    now += 1;
    expect(await running.json('/readyz', 503)).toMatchObject({
      status: 'stale',
      as_of: '2026-11-20T12:00:00Z',
      reason: expect.stringContaining('45 minutes'),
    });
    expect((await running.get(`/c/api/v1/offers?${credentials('site-c')}`)).status).toBe(200);
    expect(await running.json('/servez')).toMatchObject({ status: 'serving', as_of: '2026-11-20T12:00:00Z' });
    expect(await running.json('/healthz')).toEqual({ status: 'ok' });
  });
});

describe('a snapshot ahead of the clock', () => {
  const figures = async (running: Awaited<ReturnType<typeof serviceForTest>>) =>
    (await (await running.get('/metrics')).text())
      .split('\n')
      .filter((line) => /^offerline_snapshot_(age|ahead)_seconds /.test(line));

  test('is not ready, with or without a configured age, and nobody takes it for young, until the clock comes near it', async () => {
    let now = Date.UTC(2026, 10, 19, 12, 0);
    for (const settings of [{}, { snapshot_max_age_minutes: 45 }]) {
      const running = await serviceForTest(data, settings, () => now);
      expect(await running.json('/readyz', 503)).toEqual({
        status: 'stale',
        snapshot_id: expect.any(String),
        as_of: '2026-11-20T12:00:00Z',
        reason: expect.stringMatching(/ahead of this machine's clock.*`offerline doctor --repair`/),
      });
      expect(await figures(running)).toEqual([
        'offerline_snapshot_age_seconds +Inf',
        'offerline_snapshot_ahead_seconds 86400',
      ]);
      expect((await running.get(`/c/api/v1/offers?${credentials('site-c')}`)).status).toBe(200);
      // What a proxy asks: it would have no service left.
      expect(await running.json('/servez')).toMatchObject({ status: 'serving' });
    }
    now = Date.UTC(2026, 10, 20, 11, 55);
    const near = await serviceForTest(data, { snapshot_max_age_minutes: 45 }, () => now);
    expect(await near.json('/readyz')).toMatchObject({ status: 'ready' });
    expect(await figures(near)).toEqual(['offerline_snapshot_age_seconds 0', 'offerline_snapshot_ahead_seconds 0']);
  });
});

describe('metrics', () => {
  test('requests, refusals, latencies and the snapshot, in Prometheus’ text format', async () => {
    const running = await serviceForTest(data);
    for (let request = 0; request < 12; request++) await running.get(`/c/api/v1/offers?${credentials('changed')}`);
    await running.get(`/c/api/v1/offers?site_key=${encodeURIComponent('"}made up{"')}&site_secret=x`);
    await running.get(`/nowhere/${encodeURIComponent('"')}?${credentials('changed')}`);
    await running.get('/asset/images/offers/nothing.png', { method: 'HEAD' });
    const answer = await running.get('/metrics');
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const text = await answer.text();
    const lines = text.split('\n');
    expect(lines).toContain(`offerline_build_info{version="${packageVersion()}"} 1`);
    expect(lines).toContain('offerline_http_requests_total{path="/c/api/v1/offers",method="GET",status="200"} 10');
    expect(lines).toContain('offerline_http_requests_total{path="/c/api/v1/offers",method="GET",status="429"} 2');
    expect(lines).toContain('offerline_http_requests_total{path="/c/api/v1/offers",method="GET",status="401"} 1');
    expect(lines).toContain('offerline_http_requests_total{path="none",method="GET",status="404"} 1');
    expect(lines).toContain(
      'offerline_http_requests_total{path="/asset/images/offers/:name",method="HEAD",status="404"} 1',
    );
    expect(lines).toContain('offerline_rate_limited_requests_total{path="/c/api/v1/offers"} 2');
    expect(lines).toContain('offerline_http_request_duration_seconds_bucket{le="+Inf",path="/c/api/v1/offers"} 13');
    expect(lines).toContain('offerline_http_request_duration_seconds_count{path="/c/api/v1/offers"} 13');
    expect(lines).toContain('offerline_snapshot_age_seconds 1800');
    expect(lines).toContain('offerline_snapshot_offers 6');
    // Every line is a comment or a sample, and every sample's family is described.
    const described = new Set(
      lines.flatMap((line) => /^# TYPE (\w+) (?:counter|gauge|histogram)$/.exec(line)?.[1] ?? []),
    );
    const samples = lines.filter((line) => line !== '' && !line.startsWith('#'));
    for (const sample of samples) {
      const [, name = ''] = /^(\w+)(?:\{[\w="/:.,+-]*\})? [\d.e+-]+$/.exec(sample) ?? [];
      expect(name).toMatch(/^(offerline|process|nodejs)_/);
      expect(described.has(name.replace(/_(bucket|sum|count)$/, '')) || described.has(name), sample).toBe(true);
    }
    expect(text).not.toMatch(/secret|made up/);
  });

  test('how postbacks stood when the snapshot was built', async () => {
    const { data: own, remove } = await temporaryData();
    onTestFinished(remove);
    const deliveries = {
      pending: 3,
      delivered: 40,
      dead: 1,
      attempts: 52,
      failed_attempts: 12,
      oldest_pending_at: '2026-11-20T11:59:00Z',
      lag_seconds_p95: 4.25,
      sites: [
        { site_key: 'a', waiting: 2, failing: 1, dead: 0, oldest_waiting_at: '2026-11-20T11:59:00Z' },
        { site_key: 'b"\n\\', waiting: 0, failing: 0, dead: 1, oldest_waiting_at: null },
      ],
    };
    await writeSnapshot(own, 'one', { offers: [], deliveries });
    await makeCurrent(own, 'one');
    const running = await serviceForTest(own);
    const lines = (await (await running.get('/metrics')).text()).split('\n');
    expect(lines).toEqual(
      expect.arrayContaining([
        'offerline_postbacks_pending 3',
        'offerline_postbacks_delivered 40',
        'offerline_postbacks_dead 1',
        'offerline_postback_attempts 52',
        'offerline_postback_attempts_failed 12',
        'offerline_postbacks_oldest_pending_seconds 60',
        'offerline_postbacks_lag_seconds_p95 4.25',
        'offerline_site_postbacks_waiting{site="a"} 2',
        'offerline_site_postbacks_failing{site="a"} 1',
        'offerline_site_postbacks_dead{site="a"} 0',
        'offerline_site_postbacks_oldest_waiting_seconds{site="a"} 60',
        String.raw`offerline_site_postbacks_dead{site="b\"\n\\"} 1`,
        String.raw`offerline_site_postbacks_oldest_waiting_seconds{site="b\"\n\\"} 0`,
      ]),
    );
    // Keys of sites are for who runs the service: who comes by a proxy may be anybody.
    for (const header of ['x-forwarded-for', 'forwarded', 'via', 'x-real-ip']) {
      const shown = await (await running.get('/metrics', { headers: { [header]: '127.0.0.1' } })).text();
      expect(shown).toContain('\nofferline_postbacks_pending 3\n');
      expect(shown).not.toContain('offerline_site_');
    }
  });

  test('are on the bare host only, and there before anything is published', async () => {
    const { data: empty, remove } = await temporaryData();
    onTestFinished(remove);
    const running = await serviceForTest(empty);
    for (const base of ['/a', '/b', '/c']) expect((await running.get(`${base}/metrics`)).status).toBe(404);
    const lines = (await (await running.get('/metrics')).text()).split('\n');
    expect(lines).toContain('offerline_snapshot_present 0');
    expect(lines).toContain('offerline_http_requests_total{path="none",method="GET",status="404"} 3');
  });
});
