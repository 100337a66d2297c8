import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { packageVersion } from '../files/package-files.ts';

/** All metrics of offerline begin alike, whichever service they are of. */
export type MetricName = `offerline_${string}`;

/** A value under its labels. */
export interface LabelledValue<Label extends string> {
  labels: Readonly<Record<Label, string | number>>;
  value: number;
}

/**
 * Metrics of one service in Prometheus' text format. Each service has a registry of its own, since `start` and tests
 * run several in one process. Labels never have values that clients make up.
 */
export class Metrics {
  readonly #registry = new Registry();

  counter<Label extends string = never>(
    name: MetricName,
    help: string,
    labelNames: readonly Label[] = [],
  ): Counter<Label> {
    return new Counter({ name, help, labelNames, registers: [this.#registry] });
  }

  /** `buckets`: upper bounds, ascending. */
  histogram<Label extends string = never>(
    name: MetricName,
    help: string,
    buckets: readonly number[],
    labelNames: readonly Label[] = [],
  ): Histogram<Label> {
    return new Histogram({ name, help, buckets: [...buckets], labelNames, registers: [this.#registry] });
  }

  /** A value that is read when metrics are asked for; without a sample where it is undefined. */
  gauge(name: MetricName, help: string, read: () => number | undefined | Promise<number | undefined>): void {
    const gauge: Gauge = new Gauge({
      name,
      help,
      registers: [this.#registry],
      async collect() {
        const value = await read();
        if (value === undefined) gauge.remove();
        else gauge.set(value);
      },
    });
  }

  /** A gauge of something that may be absent, such as a snapshot; without a sample then, and where it has no value. */
  gaugeOf<Of>(of: () => Of | undefined, name: MetricName, help: string, read: (of: Of) => number | null): void {
    this.gauge(name, help, () => {
      const present = of();
      return present === undefined ? undefined : (read(present) ?? undefined);
    });
  }

  /** A gauge of several things, each under its labels. */
  gauges<Label extends string>(
    name: MetricName,
    help: string,
    labelNames: readonly Label[],
    read: () => Iterable<LabelledValue<Label>>,
  ): void {
    const gauge: Gauge<Label> = new Gauge<Label>({
      name,
      help,
      labelNames,
      registers: [this.#registry],
      collect() {
        gauge.reset();
        for (const { labels, value } of read()) gauge.set(labels, value);
      },
    });
  }

  /** `offerline_build_info`: always 1, with the version that runs as its label. */
  buildInfo(): void {
    const help = 'Always 1; the label is the version of offerline that runs.';
    const labels = { version: packageVersion() };
    this.gauges('offerline_build_info', help, ['version'], () => [{ labels, value: 1 }]);
  }

  text(): Promise<string> {
    return this.#registry.metrics();
  }
}

/** The media type of `Metrics.text`. */
export const metricsContentType = Registry.PROMETHEUS_CONTENT_TYPE;
