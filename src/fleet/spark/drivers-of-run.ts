import type { DuckDBConnection } from '@duckdb/node-api';
import { basename } from 'node:path';
import type { Settings } from '../../kit/config/settings.ts';
import type { Run } from '../../pipeline/runs/stage.ts';
import { SparkDriver } from './spark-driver.ts';
import { SparkEngine, type SparkDrivers } from './spark-engine.ts';
import { shownAddress } from './spark-work.ts';

type SparkSettings = Extract<Settings['engine'], { kind: 'spark' }>;

/** The engine of one run, by these settings. */
export function openSparkEngine(run: Run, connection: DuckDBConnection, settings: SparkSettings): SparkEngine {
  return new SparkEngine(run, connection, driversOfRun(run, settings), settings.shared_folder);
}

/**
 * One driver for a run, started when there are logs to stage: most runs of a schedule find none, and a start takes
 * seconds.
 */
export function driversOfRun(
  { data, runId, stop, logger }: Pick<Run, 'data' | 'runId' | 'stop' | 'logger'>,
  { master, connect, python, resources, time_limit_s, executor_wait_s }: SparkSettings,
): SparkDrivers {
  let started: Promise<SparkDriver> | undefined;
  const spark = shownAddress({ master, connect });
  return {
    driver: () => {
      if (started === undefined) logger.info({ spark, log: data.sparkLog }, 'Spark stages logs');
      return (started ??= SparkDriver.start({
        python,
        master,
        connect,
        executorMemory: resources.executor_memory,
        executorCores: resources.executor_cores,
        cores: resources.cores,
        driverMemory: resources.driver_memory,
        name: `offerline ${basename(data.root)} run ${runId}`,
        log: data.sparkLog,
        timeLimitSeconds: time_limit_s,
        executorWaitSeconds: executor_wait_s,
        warn: (message) => logger.warn({ spark }, message),
        stop,
      }));
    },
    async [Symbol.asyncDispose]() {
      // A driver that did not start has reported it.
      await (await started?.catch(() => undefined))?.[Symbol.asyncDispose]();
    },
  };
}
