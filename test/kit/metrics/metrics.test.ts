import { expect, test } from 'vitest';
import { Metrics, metricsContentType } from '../../../src/kit/metrics/metrics.ts';

test('counters, histograms and gauges are written in Prometheus’ text format, labels escaped', async () => {
  const metrics = new Metrics();
  metrics.counter('offerline_things_total', 'Things.', ['kind']).inc({ kind: 'a"\n\\' }, 3);
  const seconds = metrics.histogram('offerline_thing_seconds', 'Time of a thing.', [0.5, 1], ['kind']);
  for (const value of [0.2, 0.7, 7]) seconds.observe({ kind: 'a' }, value);
  metrics.gauge('offerline_age_seconds', 'Age.', () => Infinity);
  metrics.gauges('offerline_parts', 'Parts.', ['of'], () => [
    { labels: { of: 'x' }, value: 1 },
    { labels: { of: 'y' }, value: 2 },
  ]);
  const lines = (await metrics.text()).split('\n');
  expect(lines).toEqual(
    expect.arrayContaining([
      '# HELP offerline_things_total Things.',
      '# TYPE offerline_things_total counter',
      String.raw`offerline_things_total{kind="a\"\n\\"} 3`,
      '# TYPE offerline_thing_seconds histogram',
      'offerline_thing_seconds_bucket{le="0.5",kind="a"} 1',
      'offerline_thing_seconds_bucket{le="1",kind="a"} 2',
      'offerline_thing_seconds_bucket{le="+Inf",kind="a"} 3',
      'offerline_thing_seconds_count{kind="a"} 3',
      '# TYPE offerline_age_seconds gauge',
      'offerline_age_seconds +Inf',
      'offerline_parts{of="x"} 1',
      'offerline_parts{of="y"} 2',
    ]),
  );
  expect(metricsContentType).toBe('text/plain; version=0.0.4; charset=utf-8');
});

test('gauges are read anew each time, and have no sample where there is no value', async () => {
  const metrics = new Metrics();
  let value: number | undefined = 1;
  metrics.gauge('offerline_now', 'Now.', () => value);
  let parts = ['a', 'b'];
  metrics.gauges('offerline_parts', 'Parts.', ['of'], () => parts.map((of) => ({ labels: { of }, value: 1 })));
  expect(await metrics.text()).toContain('\nofferline_now 1\n');
  value = undefined;
  parts = ['b'];
  const text = await metrics.text();
  expect(text).not.toMatch(/^offerline_now/m);
  expect(text).not.toContain('of="a"');
});
