/** Settings of how Spark is reached and what it may use. */
export interface SparkAddress {
  /** The Python that has `pyspark`. */
  python: string;
  /** `spark://host:port`, or another of Spark's masters. */
  master?: string | undefined;
  /** `sc://host:port` of a Spark Connect server. */
  connect?: string | undefined;
  executorMemory?: string | undefined;
  executorCores?: number | undefined;
  /** Number for all executors together. */
  cores?: number | undefined;
  driverMemory?: string | undefined;
}

/** Address as logs and errors show it: a Spark Connect server's may end with parameters, such as a token. */
export function shownAddress({ master, connect }: Pick<SparkAddress, 'master' | 'connect'>): string {
  return connect?.replace(/\/?;.*$/s, '') ?? master ?? '';
}

/** Values in a Spark Connect server's address that may be secret: those of all parameters but whether to use TLS. */
export function secretsIn(connect = ''): string[] {
  return connect
    .split(';')
    .slice(1)
    .filter((parameter) => !parameter.startsWith('use_ssl='))
    .map((parameter) => parameter.slice(parameter.indexOf('=') + 1));
}

export interface SparkWork extends SparkAddress {
  /** Name on the cluster's own pages. */
  name: string;
  /** The file that Spark's own words go to; the one before is kept beside it. */
  log: string;
  /** Limit of the driver's whole life. */
  timeLimitSeconds: number;
  /** Limit of the time for which the cluster has no executor while a query waits. */
  executorWaitSeconds: number;
  warn: (message: string) => void;
  /** Steady clock in milliseconds; a test hands in its own. */
  now?: () => number;
  stop?: AbortSignal | undefined;
}
