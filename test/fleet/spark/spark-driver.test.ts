import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { driversOfRun } from '../../../src/fleet/spark/drivers-of-run.ts';
import { SparkDriver } from '../../../src/fleet/spark/spark-driver.ts';
import type { SparkWork } from '../../../src/fleet/spark/spark-work.ts';
import { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';

/** Answers as Spark's driver does: by what the query says. */
const program = `
import { createInterface } from 'node:readline';
const answer = (content) => process.stdout.write(JSON.stringify(content) + '\\n');
process.stderr.write('Spark speaks\\n');
for await (const line of createInterface({ input: process.stdin })) {
  const { id, master, connect, query } = JSON.parse(line);
  if (connect !== undefined) answer({ error: 'StatusCode.UNAVAILABLE ' + connect });
  else if (master === 'spark://nobody:1') answer({ error: 'nobody listens' });
  else if (master === 'java') {
    process.stderr.write('/spark/bin/spark-class: line 71: exec: java: not found\\n');
    answer({ error: '[JAVA_GATEWAY_EXITED] Java gateway process exited before sending its port number.' });
  } else if (master === 'old java') answer({ error: '[JAVA_GATEWAY_EXITED] Java gateway process exited' });
  else if (query === 'stopped') {
    process.stderr.write('ERROR StandaloneSchedulerBackend: All masters are unresponsive! Giving up.\\n');
    answer({ id, error: 'Cannot call methods on a stopped SparkContext.' });
  } else if (query === 'waits') {
    for (const executors of [0, 0, 0, 1, 0, 0, 0]) answer({ id, executors });
    answer({ id, done: true });
  } else if (query === 'gets none') for (let asked = 0; asked < 30; asked++) answer({ id, executors: 0 });
  else if (master !== undefined) answer({ ready: true, version: '4' });
  else if (query === 'wrong') answer({ id, error: 'java.io.IOException: No space left on device' });
  else if (query === 'die') process.exit(3);
  else if (query === 'chatters') {
    process.stdout.write('Welcome to this Python\\n\\n7\\nnull\\n{"level":"info"}\\n');
    answer({ id, done: true });
  }
  else if (query !== 'never') {
    answer({ id, progress: 0.5 });
    answer({ id, done: true });
  }
}
`;

describe('the driver of Spark', () => {
  let folder: string;
  let work: SparkWork;
  let warned: string[];
  const warn = (message: string) => void warned.push(message);

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'offerline-driver-'));
    warned = [];
    const python = join(folder, 'python');
    await writeFile(join(folder, 'program.mjs'), program);
    await writeFile(python, `#!/bin/sh\nexec '${process.execPath}' '${folder}/program.mjs'\n`);
    await chmod(python, 0o755);
    const log = join(folder, 'warehouse', 'driver.log');
    work = {
      python,
      master: 'spark://somebody:1',
      name: 'test',
      log,
      timeLimitSeconds: 60,
      executorWaitSeconds: 600,
      warn,
    };
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('carries out one query after the other, tells how far each has come, and keeps the log of the one before', async () => {
    for (const _ of ['first', 'second']) {
      await using driver = await SparkDriver.start(work);
      const shares: number[] = [];
      await driver.write({ query: 'right', folder: '/out' }, (share) => shares.push(share));
      await driver.view({ view: 'v', format: 'text', schema: 'value STRING', paths: ['/in'], columns: ['*'] });
      expect(shares).toEqual([0.5]);
    }
    expect(await readFile(work.log, 'utf8')).toBe('Spark speaks\n');
    expect(await readFile(`${work.log}.before`, 'utf8')).toBe('Spark speaks\n');
  });

  it('takes a line of standard output that is no answer into the log', async () => {
    await using driver = await SparkDriver.start(work);
    await driver.write({ query: 'chatters', folder: '/out' });
    expect(await readFile(work.log, 'utf8')).toBe(
      'Spark speaks\nWelcome to this Python\n\n7\nnull\n{"level":"info"}\n',
    );
  });

  it("tells Spark's error in one line, with where the log is, and goes on", async () => {
    await using driver = await SparkDriver.start(work);
    await expect(driver.write({ query: 'wrong', folder: '/out' })).rejects.toThrow(
      `Spark: java.io.IOException: No space left on device; its log is ${work.log}. Nothing of this run was committed`,
    );
    await driver.write({ query: 'right', folder: '/out' });
  });

  it('says what to do where there is no such Python, or no Spark', async () => {
    const missing = { ...work, python: join(folder, 'none') };
    await expect(SparkDriver.start(missing)).rejects.toThrow('engine.python in offerline.json');
    await expect(SparkDriver.start({ ...work, master: 'spark://nobody:1' })).rejects.toThrow('Spark: nobody listens');
  });

  it('names cause and cure where Spark names neither: no Java, one that ends, a master that nobody reaches', async () => {
    const errorOf = (master: string) =>
      SparkDriver.start({ ...work, master, driverMemory: '9g' }).then(
        () => 'it started',
        ({ message }: Error) => message,
      );
    expect(await errorOf('java')).toMatch(
      /there is no Java: install Java 17 or newer .*JAVA_HOME.*JAVA_GATEWAY_EXITED/,
    );
    expect(await errorOf('old java')).toMatch(/Java has ended before it was ready: .*driver_memory \(9g\)/);
    await using driver = await SparkDriver.start(work);
    await expect(driver.write({ query: 'stopped', folder: '/out' })).rejects.toThrow(
      'no master answers at spark://somebody:1: start it there, or correct engine.master in offerline.json',
    );
  });

  it('shows no token of the address of Spark Connect', async () => {
    const connect = 'sc://spark.example:15002/;use_ssl=true;token=secret-of-spark';
    const logged: string[] = [];
    const run = {
      data: new DataDirectory(folder),
      runId: 1,
      stop: new AbortController().signal,
      logger: createLogger({ write: (line) => logged.push(line) }),
    };
    const { python } = work;
    const settings = { kind: 'spark', connect, python, resources: {}, time_limit_s: 60, executor_wait_s: 600 } as const;
    const drivers = driversOfRun(run, settings);
    const error = (await drivers.driver().catch((each: unknown) => each)) as Error;
    expect(error.message).toContain('no Spark Connect server answers at sc://spark.example:15002: start it there');
    expect(logged.join()).toContain('"spark":"sc://spark.example:15002"');
    expect(error.message + logged.join()).not.toContain('secret-of-spark');
  });

  it('says after a minute that no executor has come, and fails once that was too long', async () => {
    let time = 0;
    // Half a minute passes between two counts.
    const slow = { ...work, executorMemory: '64g', now: () => (time += 30_000) };
    await using driver = await SparkDriver.start(slow);
    await driver.write({ query: 'waits', folder: '/out' });
    const wanted = 'no worker of the cluster has room for one with engine.resources.executor_memory 64g';
    expect(warned).toEqual(
      Array.from({ length: 2 }, () => expect.stringMatching(`no executor for a minute, .* 600 s: ${wanted}`) as string),
    );
    await expect(driver.write({ query: 'gets none', folder: '/out' })).rejects.toThrow(
      `Spark has had no executor for the 600 s that engine.executor_wait_s in offerline.json allows: ${wanted}`,
    );
    expect(warned).toHaveLength(3);
  });

  it('a driver that ends by itself fails what waits for it, and all that comes after', async () => {
    await using driver = await SparkDriver.start(work);
    await expect(driver.write({ query: 'die', folder: '/out' })).rejects.toThrow('ended by itself (code 3)');
    await expect(driver.write({ query: 'right', folder: '/out' })).rejects.toThrow('ended by itself (code 3)');
  });

  it('ends at its time limit and when the run is stopped', async () => {
    // On a busy machine its start alone may take that long.
    const late = async () => {
      await using driver = await SparkDriver.start({ ...work, timeLimitSeconds: 0.5 });
      await driver.write({ query: 'never', folder: '/out' });
    };
    await expect(late()).rejects.toThrow('engine.time_limit_s');
    const stop = new AbortController();
    await using stopped = await SparkDriver.start({ ...work, stop: stop.signal });
    const waiting = stopped.write({ query: 'never', folder: '/out' });
    stop.abort();
    await expect(waiting).rejects.toThrow('the run was asked to end while Spark was at work');
  });
});
