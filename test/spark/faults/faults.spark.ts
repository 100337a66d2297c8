import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { killedRefresh } from '../../fault/lives/killed-refresh.ts';
import type { StepPoint } from '../../fault/lives/watched-effects.ts';
import { descendants } from '../cluster/process-tree.ts';
import { isLong } from '../cluster/is-long.ts';
import { SparkCluster } from '../cluster/spark-cluster.ts';
import { amidst, asOf, drivers, end, SparkLife, untilNoneIsLeft } from './spark-life.ts';

/** On a machine that does other things, too. */
const long = 1_800_000;
const parsing = 'parsing clicks on Spark';

const step = (of: string, moment: StepPoint['moment'] = 'after'): StepPoint => ({
  step: `events of ${of}`,
  moment,
  occurrence: 1,
});
/** Before the last step of Spark's work on clicks, when all that it leaves is there; each kill costs a run on Spark. */
const kills = [...(isLong ? [step('clicks: parsed by Spark')] : []), step('clicks: written by Spark', 'before')];
/** Tried where all is. */
const furtherKills = [
  step('clicks: odd lines parsed'),
  step('clicks: duplicates found by Spark'),
  step('clicks: known ones looked up'),
  step('conversions: written by Spark'),
];

/**
 * Gives a worker a disk of its own that is too small for what it is asked for; where this user may not mount one, files
 * of at most 512 KiB.
 */
const mayMount = spawnSync('unshare', ['-m', 'mount', '-t', 'tmpfs', 'none', tmpdir()]).status === 0;
const littleRoom = mayMount
  ? ['unshare', '-m', 'sh', '-c', 'mount -t tmpfs -o size=1m none "$SPARK_LOCAL_DIRS" && exec "$0" "$@"']
  : ['sh', '-c', 'ulimit -f 1024 && exec "$0" "$@"'];

describe('a cluster that is broken', () => {
  let cluster: SparkCluster;
  const { python } = inject('spark');
  const kill = (pids: readonly (number | undefined)[]) => {
    for (const pid of pids) if (pid !== undefined) process.kill(pid, 'SIGKILL');
  };
  const workers = () => cluster.workers.flatMap(({ process: { pid } }) => pid ?? []);

  beforeAll(async () => {
    cluster = await SparkCluster.start(inject('spark'), { workers: 2 });
  });
  afterAll(() => cluster[Symbol.asyncDispose]());

  it(
    'ends a job when it is asked to, fails plainly without its driver, and goes on without a worker and its executor',
    async () => {
      await using life = await SparkLife.create(python, cluster.master, 15_000);
      const stop = new AbortController();
      const stopping = amidst(parsing, () => stop.abort());
      await expect(life.refresh({ progress: stopping, stop: stop.signal })).rejects.toThrow(
        'the run was asked to end while Spark was at work',
      );
      await untilNoneIsLeft(life.faulted, workers());
      const killing = amidst(parsing, () => kill(drivers().map(({ pid }) => pid)));
      await expect(life.refresh({ progress: killing })).rejects.toThrow(
        /Spark's driver ended by itself \(SIGKILL\); its log is .*spark-driver\.log/,
      );
      await untilNoneIsLeft(life.faulted, workers());
      const [worker] = cluster.workers;
      const progress = amidst(parsing, () => {
        const { pid = 0 } = worker?.process ?? {};
        kill([pid, ...descendants(pid).map((each) => each.pid)]);
      });
      await life.refresh({ progress });
      expect(progress.acted).toBe(true);
      expect(await life.differences()).toEqual([]);
      await cluster.addWorker();
    },
    long,
  );

  it(
    'a run killed at a step of Spark leaves no driver, no executor and no event; the next one publishes all',
    async () => {
      // After more forced ends in a row, a run reads a single file.
      for (const killsInARow of isLong ? [kills, furtherKills] : [kills]) {
        await using life = await SparkLife.create(python, cluster.master, 2_000);
        for (const killAt of killsInARow) {
          const request = {
            pipeline: 'refresh',
            root: life.faulted.root,
            asOf,
            wallClock: end.getTime(),
            killAt,
          } as const;
          const { signal, told } = await killedRefresh(request);
          expect(signal, `${killAt.step}: ${told}`).toBe('SIGKILL');
          await untilNoneIsLeft(life.faulted, workers());
        }
        await life.refresh();
        expect(await life.differences()).toEqual([]);
      }
    },
    long,
  );
});

it(
  'a worker without room on its disk: the run says so, and the next one publishes all',
  async () => {
    const { python } = inject('spark');
    await using cluster = await SparkCluster.start(inject('spark'), { workers: 1, wrapped: () => littleRoom });
    await using life = await SparkLife.create(python, cluster.master, 20_000);
    await expect(life.refresh()).rejects.toThrow(/No space left|File too large/);
    // Spark goes on giving it work, so whoever is woken by this has to take it out.
    for (const worker of cluster.workers) {
      const ended = once(worker.process, 'exit');
      worker.process.kill('SIGTERM');
      await ended;
    }
    await cluster.addWorker();
    await life.refresh();
    expect(await life.differences()).toEqual([]);
  },
  long,
);
