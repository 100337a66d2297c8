import { readFileSync } from 'node:fs';
import { parser } from '@prometheus-io/lezer-promql';
import { parse } from 'yaml';
import { z } from 'zod';

const read = (name: string) => readFileSync(new URL(`../../data/monitoring/${name}`, import.meta.url), 'utf8');
const duration = z.string().regex(/^(\d+(ms|s|m|h|d|w|y))+$/);

/** As Prometheus reads rule files: it refuses other keys. */
const rulesSchema = z.strictObject({
  groups: z.array(
    z.strictObject({
      name: z.string().min(1),
      interval: duration.optional(),
      rules: z.array(
        z.strictObject({
          alert: z.string().regex(/^Offerline[A-Za-z]+$/),
          expr: z.string().min(1),
          for: duration.optional(),
          labels: z.strictObject({ severity: z.enum(['critical', 'warning']) }),
          annotations: z.strictObject({ summary: z.string().min(1) }),
        }),
      ),
    }),
  ),
});

const dashboardSchema = z.looseObject({
  uid: z.string(),
  schemaVersion: z.int().min(39),
  templating: z.object({ list: z.array(z.looseObject({ name: z.string() })) }),
  panels: z.array(
    z.looseObject({
      id: z.int(),
      type: z.enum(['row', 'stat', 'timeseries']),
      title: z.string().min(1),
      gridPos: z.strictObject({ h: z.int().min(1), w: z.int().min(1).max(24), x: z.int().min(0), y: z.int().min(0) }),
      targets: z.array(z.looseObject({ refId: z.string(), expr: z.string().min(1) })).optional(),
    }),
  ),
});

/** Alert rules of `data/monitoring`. Throws where Prometheus would refuse the file. */
export function alertRules() {
  return rulesSchema.parse(parse(read('alerts.yml'))).groups.flatMap(({ rules }) => rules);
}

/** The dashboard of `data/monitoring`. */
export function dashboard() {
  return dashboardSchema.parse(JSON.parse(read('dashboard.json')));
}

/** Names of metrics in a PromQL expression. Throws where Prometheus would not parse it. */
export function metricsIn(expression: string): string[] {
  const text = expression.replaceAll('$__rate_interval', '5m');
  const names: string[] = [];
  parser.parse(text).iterate({
    enter({ name, type, from, to, node }) {
      if (type.isError) throw new Error(`no PromQL at character ${from}: ${text}`);
      if (name === 'Identifier' && node.parent?.name === 'VectorSelector') names.push(text.slice(from, to));
    },
  });
  return names;
}

/** Our metrics that rules and dashboard name. */
export function namedMetrics(): string[] {
  const panels = dashboard().panels.flatMap(({ targets = [] }) => targets);
  const names = [...alertRules(), ...panels].flatMap(({ expr }) => metricsIn(expr));
  return [...new Set(names)].filter((name) => name !== 'up').toSorted();
}

/** Names of the series that an answer of `/metrics` declares, also of metrics without a sample. */
export function declaredMetrics(text: string): Set<string> {
  const declared = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)];
  return new Set(
    declared.flatMap(([, name = '', kind]) =>
      kind === 'histogram' ? ['_bucket', '_sum', '_count'].map((end) => name + end) : [name],
    ),
  );
}
