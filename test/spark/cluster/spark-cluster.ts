import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { javaOptions, type PySpark } from './pyspark.ts';

/** Of a master or worker: its own ports are free ones, so two of these run side by side. */
const address = '--host 127.0.0.1 --port 0 --webui-port 0'.split(' ');

const startMilliseconds = 60_000;
const pollMilliseconds = 100;

/** One process of a cluster, and the file that it writes its log to. */
interface Member {
  process: ChildProcess;
  log: string;
  /** Shuffles and executors' work. */
  folder: string;
}

export interface ClusterShape {
  workers: number;
  /** Of each worker; one where nothing is said. An executor has all of them. */
  cores?: number;
  /** Commands before a worker's own, such as `prlimit`; by the worker's number from 0. */
  wrapped?: (worker: number) => string[];
}

/**
 * A real standalone cluster on loopback: a master and workers of 1 GB each, on ports that were free, everything they
 * write in a folder of its own.
 */
export class SparkCluster implements AsyncDisposable {
  readonly master: string;
  readonly workers: Member[] = [];
  readonly #master: Member;
  readonly #spark: PySpark;
  readonly #folder: string;
  readonly #cores: number;

  static async start(spark: PySpark, { workers, cores = 1, wrapped = () => [] }: ClusterShape): Promise<SparkCluster> {
    const folder = await mkdtemp(join(tmpdir(), 'offerline-spark-'));
    const master = await startMember(spark, folder, 'master', ['org.apache.spark.deploy.master.Master', ...address]);
    const found = await told(master, /Starting Spark master at (spark:\S+)/);
    const cluster = new SparkCluster(spark, folder, master, found, cores);
    for (let number = 0; number < workers; number++) await cluster.addWorker(wrapped(number));
    return cluster;
  }

  private constructor(spark: PySpark, folder: string, master: Member, found: string, cores: number) {
    this.#spark = spark;
    this.#folder = folder;
    this.#cores = cores;
    this.#master = master;
    this.master = found;
  }

  /** Starts one more worker and waits until the master knows it. */
  async addWorker(wrapped: string[] = []): Promise<Member> {
    const name = `worker-${this.workers.length}`;
    const worker = await startMember(
      this.#spark,
      this.#folder,
      name,
      [
        'org.apache.spark.deploy.worker.Worker',
        ...address,
        '--cores',
        String(this.#cores),
        ...'--memory 1g --work-dir'.split(' '),
        join(this.#folder, name, 'work'),
        this.master,
      ],
      wrapped,
    );
    this.workers.push(worker);
    await told(worker, /Successfully registered with master/);
    return worker;
  }

  /** Starts a Spark Connect server on the cluster and gives its address; it holds all cores until the cluster ends. */
  async addConnectServer(): Promise<string> {
    const server = await startMember(this.#spark, this.#folder, 'connect', [
      'org.apache.spark.deploy.SparkSubmit',
      ...'--class org.apache.spark.sql.connect.service.SparkConnectServer'.split(' '),
      '--master',
      this.master,
      ...'--conf spark.connect.grpc.binding.address=127.0.0.1 --conf spark.connect.grpc.binding.port=0 --conf spark.ui.enabled=false spark-internal'.split(
        ' ',
      ),
    ]);
    this.workers.push(server);
    return `sc://127.0.0.1:${await told(server, /Spark Connect server started at: \S+:(\d+)/)}`;
  }

  /** Ends every process and removes what they wrote. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const { process } of [...this.workers, this.#master]) {
      if (process.exitCode !== null || process.signalCode !== null) continue;
      process.kill('SIGTERM');
      const slow = globalThis.setTimeout(() => process.kill('SIGKILL'), 10_000);
      await once(process, 'exit');
      clearTimeout(slow);
    }
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function startMember(
  { home }: PySpark,
  root: string,
  name: string,
  main: string[],
  wrapped: string[] = [],
): Promise<Member> {
  const folder = join(root, name);
  await mkdir(folder);
  const log = join(root, `${name}.log`);
  const output = openSync(log, 'a');
  const [program = '', ...parameters] = [...wrapped, join(home, 'bin', 'spark-class'), ...main];
  const child = spawn(program, parameters, {
    stdio: ['ignore', output, output],
    env: {
      ...process.env,
      SPARK_HOME: home,
      SPARK_LOCAL_IP: '127.0.0.1',
      SPARK_LOCAL_DIRS: folder,
      SPARK_WORKER_OPTS: '-Dspark.worker.cleanup.enabled=true',
      SPARK_DAEMON_MEMORY: '512m',
      JDK_JAVA_OPTIONS: javaOptions,
    },
  });
  closeSync(output);
  return { process: child, log, folder };
}

/** What a member's log says, once it does. */
async function told(member: Member, pattern: RegExp): Promise<string> {
  const end = performance.now() + startMilliseconds;
  for (;;) {
    const text = readFileSync(member.log, 'utf8');
    const found = pattern.exec(text);
    if (found !== null) return found[1] ?? found[0];
    if (member.process.exitCode !== null || performance.now() > end)
      throw new Error(`Spark's ${member.log} never said ${pattern}: ${text.slice(-2000)}`);
    await setTimeout(pollMilliseconds);
  }
}
