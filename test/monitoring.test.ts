import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { alertRules, dashboard, declaredMetrics, metricsIn, namedMetrics } from './support/monitoring.ts';

const guide = readFileSync(new URL('../pipelines/README.md', import.meta.url), 'utf8');

it('alert rules have the shape that Prometheus wants, each its own name and an expression that parses', () => {
  const rules = alertRules();
  expect(rules.length).toBeGreaterThan(15);
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
  for (const { alert, expr } of rules) expect(metricsIn(expr).length, alert).toBeGreaterThan(0);
});

it('each alert has a row in the guide that says what to do, and each row its alert', () => {
  const rows = [...guide.matchAll(/^\| `(Offerline\w+)` \| .{10,} \| .{10,} \|$/gm)].map(([, alert = '']) => alert);
  expect(rows.toSorted()).toEqual(
    alertRules()
      .map(({ alert }) => alert)
      .toSorted(),
  );
});

it('panels of the dashboard have ids and places of their own, and expressions that parse', () => {
  const { panels, templating } = dashboard();
  expect(templating.list.map(({ name }) => name)).toContain('datasource');
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)} ${y + Math.floor(cell / w)}`),
  );
  expect(new Set(cells).size).toBe(cells.length);
  for (const { title, type, targets = [] } of panels)
    expect({ title, targets: targets.length > 0 }).toEqual({ title, targets: type !== 'row' });
  expect(namedMetrics().every((name) => name.startsWith('offerline_'))).toBe(true);
});

it('what is no PromQL is refused, and names are those of series, not of labels or functions', () => {
  expect(() => metricsIn('sum(offerline_role{')).toThrow('no PromQL');
  expect(metricsIn('sum by (le) (rate(offerline_a_bucket{role="x"}[$__rate_interval])) / offerline_b')).toEqual([
    'offerline_a_bucket',
    'offerline_b',
  ]);
  expect([...declaredMetrics('# TYPE offerline_a histogram\n# TYPE offerline_b gauge\n')]).toEqual([
    'offerline_a_bucket',
    'offerline_a_sum',
    'offerline_a_count',
    'offerline_b',
  ]);
});
