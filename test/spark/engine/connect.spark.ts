import { afterAll, inject } from 'vitest';
import { engineAgreement, engineContract } from '../../pipeline/ingest/engine/contract.ts';
import { isLong } from '../cluster/is-long.ts';
import { SparkCluster } from '../cluster/spark-cluster.ts';
import { SharedDriver } from './shared-driver.ts';

// A cluster of its own: the server holds its executors for as long as it runs.
const cluster = await SparkCluster.start(inject('spark'), { workers: 1 });
const shared = await SharedDriver.start({}, await cluster.addConnectServer());
afterAll(async () => {
  await shared[Symbol.asyncDispose]();
  await cluster[Symbol.asyncDispose]();
});

// The statements are those of `one-driver.spark.ts`; what differs is the way to Spark.
(isLong ? engineContract : engineAgreement)('spark by Spark Connect', shared.engine, 3);
