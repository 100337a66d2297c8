import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { SparkDriver } from '../../../src/fleet/spark/spark-driver.ts';
import type { SparkWork } from '../../../src/fleet/spark/spark-work.ts';
import { SparkCluster } from '../cluster/spark-cluster.ts';
import { SparkLife } from './spark-life.ts';

let cluster: SparkCluster;
const { python } = inject('spark');
beforeAll(async () => {
  cluster = await SparkCluster.start(inject('spark'), { workers: 1 });
});
afterAll(() => cluster[Symbol.asyncDispose]());

// Beside each other: Spark looks for a master for a minute.
it.concurrent('a query that no worker has room for fails, and says what it asked for', async () => {
  await using life = await SparkLife.create(python, cluster.master, 10);
  const warned: string[] = [];
  let time = 0;
  const work: SparkWork = {
    python,
    master: cluster.master,
    name: 'no executor',
    log: life.faulted.sparkLog,
    timeLimitSeconds: 600,
    executorWaitSeconds: 300,
    executorMemory: '64g',
    warn: (message) => warned.push(message),
    // Each count of Spark's executors is half a minute later.
    now: () => (time += 30_000),
  };
  await using driver = await SparkDriver.start(work);
  const query = 'SELECT sum(id) FROM range(1000)';
  await expect(driver.write({ query, folder: `${life.faulted.root}/out` })).rejects.toThrow(
    /no executor for the 300 s .*executor_memory 64g/,
  );
  expect(warned).toEqual([expect.stringContaining('no executor for a minute') as string]);
  const small = { ...work, executorMemory: '512m', now: () => 0 };
  await using enough = await SparkDriver.start(small);
  await enough.write({ query, folder: `${life.faulted.root}/out` });
});

it.concurrent('a master that nobody reaches is named', async () => {
  await using life = await SparkLife.create(python, 'spark://127.0.0.1:1', 10);
  await expect(life.refresh()).rejects.toThrow('no master answers at spark://127.0.0.1:1: start it there');
});
