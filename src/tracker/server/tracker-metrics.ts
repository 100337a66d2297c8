import type { ClickOutcome } from '../clicks/click-answer.ts';
import type { Histogram } from '../../kit/http/histogram.ts';

/** A figure of this moment, with labels that tell it apart. */
export interface Sample {
  name: string;
  help: string;
  type: 'counter' | 'gauge';
  labels?: Readonly<Record<string, string>>;
  value: number;
}

/** A histogram with what it is called. */
export interface HistogramSample {
  name: string;
  help: string;
  labels: Readonly<Record<string, string>>;
  histogram: Histogram;
}

/** Counts what was answered, for `/metrics` and the log. No label comes from a client. */
export class TrackerMetrics {
  readonly #clicks = new Map<ClickOutcome, number>();
  readonly #postbacks = new Map<string, { source: string; outcome: string; count: number }>();
  #told = new Map<string, number>();

  countClick(outcome: ClickOutcome): void {
    this.#clicks.set(outcome, (this.#clicks.get(outcome) ?? 0) + 1);
  }

  /** `source`: as `sources.json` names it; undefined where it does not. */
  countPostback(source: string | undefined, outcome: string): void {
    const key = `${source ?? ''}\n${outcome}`;
    const counted = this.#postbacks.get(key);
    if (counted === undefined) this.#postbacks.set(key, { source: source ?? '', outcome, count: 1 });
    else counted.count++;
  }

  get samples(): Sample[] {
    return [
      ...[...this.#clicks].map(([outcome, value]): Sample => ({
        name: 'tracker_clicks_total',
        help: 'Requests for links, by what became of them; `click` is one that was recorded.',
        type: 'counter',
        labels: { outcome },
        value,
      })),
      ...[...this.#postbacks.values()].map(({ source, outcome, count }): Sample => ({
        name: 'tracker_postbacks_total',
        help: 'Conversions that sources reported, by what became of them.',
        type: 'counter',
        labels: { source, outcome },
        value: count,
      })),
    ];
  }

  /** What was answered since the last call, for a log line; undefined where nothing was. */
  news(): Record<string, number> | undefined {
    const now = new Map<string, number>([
      ...[...this.#clicks].map(([outcome, count]) => [`clicks_${outcome}`, count] as const),
      ...[...Map.groupBy(this.#postbacks.values(), ({ outcome }) => outcome)].map(
        ([outcome, counted]) => [`postbacks_${outcome}`, counted.reduce((sum, { count }) => sum + count, 0)] as const,
      ),
    ]);
    const news = [...now].flatMap(([name, count]) => {
      const difference = count - (this.#told.get(name) ?? 0);
      return difference === 0 ? [] : [[name, difference] as const];
    });
    this.#told = now;
    return news.length === 0 ? undefined : Object.fromEntries(news);
  }
}

/** Prometheus' text format. */
export function metricsText(samples: readonly Sample[], histograms: readonly HistogramSample[]): string {
  const lines: string[] = [];
  const named = Map.groupBy(samples, ({ name }) => name);
  for (const [name, group] of named) {
    lines.push(...head(name, group[0] as Sample));
    for (const { labels, value } of group) lines.push(`${name}${labelsText(labels)} ${valueText(value)}`);
  }
  for (const [name, group] of Map.groupBy(histograms, (each) => each.name)) {
    lines.push(...head(name, { help: (group[0] as HistogramSample).help, type: 'histogram' }));
    for (const { labels, histogram } of group) lines.push(...histogramLines(name, labels, histogram));
  }
  return `${lines.join('\n')}\n`;
}

function head(name: string, { help, type }: { help: string; type: string }): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
}

function histogramLines(name: string, labels: Readonly<Record<string, string>>, histogram: Histogram): string[] {
  const { bounds, counts, sum } = histogram;
  const lines: string[] = [];
  let upTo = 0;
  for (const [column, count] of counts.entries()) {
    upTo += count;
    lines.push(`${name}_bucket${labelsText({ ...labels, le: String(bounds[column] ?? '+Inf') })} ${upTo}`);
  }
  lines.push(`${name}_sum${labelsText(labels)} ${sum}`, `${name}_count${labelsText(labels)} ${upTo}`);
  return lines;
}

function labelsText(labels: Readonly<Record<string, string>> = {}): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${value.replaceAll(/["\\\n]/g, '\\$&')}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function valueText(value: number): string {
  return value === Infinity ? '+Inf' : String(value);
}
