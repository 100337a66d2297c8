import { Command } from 'commander';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm, writeFile, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { wholeNumber } from '../../src/cli/answer.ts';
import { DataDirectory } from '../../src/kit/config/data-directory.ts';
import { generate } from '../../src/demo/generate/generate.ts';
import { launcher } from '../support/command-line.ts';
import { findJava, installedPyspark, type PySpark } from './cluster/pyspark.ts';
import { descendants, processes } from './cluster/process-tree.ts';
import { SparkCluster } from './cluster/spark-cluster.ts';

/**
 * `npm run bench:spark -- --clicks N`: the same logs ingested by DuckDB, and by Spark with one and with two workers of
 * one core and 1 GB. Processor time and memory are of all processes together: the run, the driver, master, workers,
 * executors.
 */
interface Measured {
  engine: string;
  seconds: number;
  cpuSeconds: number;
  /** Of them those of executors, which more workers share. */
  executorCpuSeconds: number;
  /** And those of the run's own process. */
  runCpuSeconds: number;
  peakGibibytes: number;
  oddShare: number;
  accepted: number;
}

const sampleMilliseconds = 200;
const gibibyte = 2 ** 30;
const end = new Date('2026-11-18T12:00:00Z');

async function measure(data: DataDirectory, name: string, cluster?: SparkCluster, spark?: PySpark): Promise<Measured> {
  for (const folder of [data.warehouse, data.published, data.postbacks])
    await rm(folder, { recursive: true, force: true });
  const settings = JSON.parse(await readFile(data.settingsFile, 'utf8')) as object;
  const engine =
    cluster === undefined
      ? { kind: 'duckdb' }
      : { kind: 'spark', master: cluster.master, python: spark?.python, resources: { executor_memory: '1g' } };
  await writeFile(data.settingsFile, JSON.stringify({ ...settings, engine }));
  const before = new Map(processes().map(({ pid, cpuSeconds }) => [pid, cpuSeconds]));
  const spent = new Map<number, number>();
  const executors = new Set<number>();
  let peak = 0;
  const started = performance.now();
  const run = spawn(launcher.executable, [...launcher.words, 'run', 'ingest', '--json', '--as-of', end.toISOString()], {
    env: { ...process.env, OFFERLINE_DATA: data.root, SPARK_LOCAL_IP: '127.0.0.1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const timer = setInterval(() => {
    // Everything that this process has started: the run with its driver, and the cluster.
    const all = descendants(process.pid);
    for (const { pid, cpuSeconds, command } of all) {
      spent.set(pid, cpuSeconds - (before.get(pid) ?? 0));
      if (command.includes('ExecutorBackend')) executors.add(pid);
    }
    peak = Math.max(
      peak,
      all.reduce((sum, { residentBytes }) => sum + residentBytes, 0),
    );
  }, sampleMilliseconds);
  const [output, logs, [code]] = await Promise.all([
    text(run.stdout),
    text(run.stderr),
    once(run, 'exit') as Promise<[number]>,
  ]);
  clearInterval(timer);
  if (code !== 0) throw new Error(`${name} exited with ${code}:\n${logs.slice(-2000)}`);
  const told = logs
    .split('\n')
    .filter((line) => line.startsWith('{') && line.includes('"odd":'))
    .map((line) => JSON.parse(line) as { lines: number; odd: number });
  const sum = (key: 'lines' | 'odd') => told.reduce((total, each) => total + each[key], 0);
  return {
    engine: name,
    seconds: (performance.now() - started) / 1000,
    cpuSeconds: [...spent.values()].reduce((total, seconds) => total + seconds, 0),
    executorCpuSeconds: [...executors].reduce((total, pid) => total + (spent.get(pid) ?? 0), 0),
    runCpuSeconds: spent.get(run.pid ?? 0) ?? 0,
    peakGibibytes: peak / gibibyte,
    oddShare: sum('lines') === 0 ? 0 : sum('odd') / sum('lines'),
    accepted: (JSON.parse(output) as { ingested: { accepted: number } }).ingested.accepted,
  };
}

const { clicks, days } = new Command('npm run bench:spark --')
  .option('--clicks <n>', 'clicks generated', wholeNumber(1000, 1_000_000_000), 2_000_000)
  .option('--days <n>', 'days that they are spread over', wholeNumber(1, 366), 10)
  .parse()
  .opts<{ clicks: number; days: number }>();
findJava();
const spark = installedPyspark((line) => void process.stderr.write(`${line}\n`));
const folder = await mkdtemp(join(tmpdir(), 'offerline-bench-spark-'));
try {
  const data = new DataDirectory(join(folder, 'data'));
  await generate({ out: data.root, seed: 1, clicks, days, end });
  const rows = [await measure(data, 'duckdb')];
  for (const workers of [1, 2]) {
    await using cluster = await SparkCluster.start(spark, { workers });
    rows.push(await measure(data, `spark, ${workers} worker${workers === 1 ? '' : 's'}`, cluster, spark));
  }
  for (const {
    engine,
    seconds,
    cpuSeconds,
    executorCpuSeconds,
    runCpuSeconds,
    peakGibibytes,
    oddShare,
    accepted,
  } of rows)
    process.stdout.write(
      `| ${engine} | ${seconds.toFixed(1)} s | ${cpuSeconds.toFixed(1)} s | ${executorCpuSeconds.toFixed(1)} s | ${runCpuSeconds.toFixed(1)} s | ${peakGibibytes.toFixed(2)} GiB | ${(100 * oddShare).toFixed(3)} % | ${accepted} |\n`,
    );
} finally {
  await rm(folder, { recursive: true, force: true });
}
