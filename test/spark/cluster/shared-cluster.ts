import type { TestProject } from 'vitest/node';
import type { PySpark } from './pyspark.ts';
import { SparkCluster } from './spark-cluster.ts';

/** The cluster of all test files. Those that break one start their own. */
export interface SharedCluster extends PySpark {
  master: string;
}

declare module 'vitest' {
  export interface ProvidedContext {
    spark: SharedCluster;
  }
}

/**
 * Starts a master and a worker of two cores before the tests, and ends them after; two executors of one core would each
 * load their code anew for every driver. Where OFFERLINE_SPARK_MASTER names a master, such as `local[2]`, the tests use
 * that.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env['OFFERLINE_TEST_SPARK'];
  if (given === undefined) throw new Error('these tests are started by `npm run test:spark`');
  const spark = JSON.parse(given) as PySpark;
  const running = process.env['OFFERLINE_SPARK_MASTER'];
  if (running !== undefined) {
    project.provide('spark', { ...spark, master: running });
    return () => Promise.resolve();
  }
  const cluster = await SparkCluster.start(spark, { workers: 1, cores: 2 });
  project.provide('spark', { ...spark, master: cluster.master });
  return async () => cluster[Symbol.asyncDispose]();
}
