import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { appendFileSync, closeSync, existsSync, mkdirSync, openSync, renameSync } from 'node:fs';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { packageFile } from '../../kit/files/package-files.ts';
import { Redactor } from '../../kit/config/secrets.ts';
import { OfferlineError, StoppedError } from '../../kit/errors/errors.ts';
import { ExecutorWait } from './executor-wait.ts';
import { explainedError } from './explained-error.ts';
import { secretsIn, type SparkWork } from './spark-work.ts';

/**
 * Files that queries may name. `schema`: names and types of the files' columns, which Spark would run a job to find
 * out. `columns`: SQL, beside the files' own columns also `_metadata`.
 */
export interface ViewOfFiles {
  view: string;
  format: 'text' | 'parquet';
  schema: string;
  /** Absolute. */
  paths: readonly string[];
  columns: readonly string[];
  options?: Record<string, string>;
}

/** Rows of a query as Parquet in a folder, by folders of the values of `partitionBy` where given. */
export interface WrittenQuery {
  query: string;
  folder: string;
  partitionBy?: readonly string[];
  options?: Record<string, string>;
}

interface Answer {
  id?: number;
  ready?: true;
  version?: string;
  progress?: number;
  executors?: number;
  done?: true;
  error?: string;
}

interface Waiting {
  resolve: (answer: Answer) => void;
  reject: (error: Error) => void;
  onProgress: (share: number) => void;
}

/** Times are of UTC and as the calendar has them; a file that is gone or broken is an error and never fewer rows. */
const sessionSettings = {
  'spark.sql.session.timeZone': 'UTC',
  'spark.sql.ansi.enabled': 'true',
  'spark.sql.caseSensitive': 'true',
  'spark.sql.parquet.outputTimestampType': 'TIMESTAMP_MICROS',
  'spark.sql.parquet.datetimeRebaseModeInRead': 'CORRECTED',
  'spark.sql.parquet.datetimeRebaseModeInWrite': 'CORRECTED',
  'spark.sql.sources.partitionColumnTypeInference.enabled': 'false',
  'spark.sql.files.ignoreCorruptFiles': 'false',
  'spark.sql.files.ignoreMissingFiles': 'false',
};

/** A name is a name, also with `[` or `*` in it. */
const noPatterns = { __globPaths__: 'false' };

/** Without a scheme a cluster would look where its own files lie by default. */
const fileAddress = (path: string) => `file://${path}`;

const closeMilliseconds = 20_000;

/**
 * A process that holds the connection to Spark and carries out one command at a time. It ends with ours, however that
 * ends, and its executors with it.
 */
export class SparkDriver implements AsyncDisposable {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #log: string;
  readonly #exited: Promise<void>;
  readonly #waiting = new Map<number, Waiting>();
  readonly #timer: NodeJS.Timeout;
  readonly #work: SparkWork;
  readonly #executors: ExecutorWait;
  readonly #redactor: Redactor;
  #ended: Error | undefined;
  #lastId = 0;

  /** Throws `OfferlineError` where Spark cannot be reached. */
  static async start(work: SparkWork): Promise<SparkDriver> {
    const driver = new SparkDriver(work);
    try {
      await driver.#answer(0, JSON.stringify(settingsOf(work)));
    } catch (error) {
      await driver[Symbol.asyncDispose]();
      throw error;
    }
    return driver;
  }

  private constructor(work: SparkWork) {
    this.#work = work;
    this.#executors = new ExecutorWait(work);
    this.#redactor = new Redactor(secretsIn(work.connect));
    this.#log = work.log;
    mkdirSync(dirname(work.log), { recursive: true });
    if (existsSync(work.log)) renameSync(work.log, `${work.log}.before`);
    const log = openSync(work.log, 'a', 0o600);
    this.#child = spawn(work.python, ['-u', packageFile('src/pipeline/ingest/engine/spark/driver.py')], {
      stdio: ['pipe', 'pipe', log],
      // Signals of a terminal are for us: we end it when we do.
      detached: true,
    }) as ChildProcessByStdio<Writable, Readable, null>;
    closeSync(log);
    this.#exited = new Promise((resolve) => {
      this.#child.once('error', (error) => {
        this.#fail(
          new OfferlineError(
            `${work.python} cannot be started: ${error.message}; name a Python that has pyspark as engine.python in offerline.json. ${nothingIsLost}`,
          ),
        );
        resolve();
      });
      this.#child.once('close', (code, signal) => {
        this.#fail(
          new OfferlineError(
            `Spark's driver ended by itself (${signal ?? `code ${code}`}); its log is ${this.#log}. ${nothingIsLost}`,
          ),
        );
        resolve();
      });
    });
    // Writing to a process that has ended fails; its end is the error to report.
    this.#child.stdin.on('error', () => undefined);
    createInterface({ input: this.#child.stdout }).on('line', (line) => this.#hear(line));
    this.#timer = setTimeout(
      () =>
        this.#kill(
          new OfferlineError(
            `Spark took longer than the ${work.timeLimitSeconds} s that engine.time_limit_s in offerline.json allows; its log is ${this.#log}. ${nothingIsLost}`,
          ),
        ),
      work.timeLimitSeconds * 1000,
    ).unref();
    work.stop?.addEventListener('abort', this.#onStop);
    if (work.stop?.aborted) this.#onStop();
  }

  view({ view, format, schema, paths, columns, options = {} }: ViewOfFiles): Promise<void> {
    return this.#carryOut({
      view,
      format,
      schema,
      columns,
      paths: paths.map(fileAddress),
      options: { ...options, ...noPatterns },
    });
  }

  /** `onProgress` gets the share that is done, from 0 to 1. */
  write(
    { query, folder, partitionBy, options = {} }: WrittenQuery,
    onProgress: (share: number) => void = () => {},
  ): Promise<void> {
    return this.#carryOut({ query, write: fileAddress(folder), partition_by: partitionBy ?? [], options }, onProgress);
  }

  /** Ends the driver, and what it had on the cluster. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#timer);
    this.#work.stop?.removeEventListener('abort', this.#onStop);
    this.#child.stdin.end();
    const slow = setTimeout(() => this.#child.kill('SIGKILL'), closeMilliseconds);
    await this.#exited;
    clearTimeout(slow);
  }

  /** Process id of the driver, for tests that kill it. */
  get pid(): number | undefined {
    return this.#child.pid;
  }

  readonly #onStop = () => {
    this.#kill(new StoppedError(`the run was asked to end while Spark was at work. ${nothingIsLost}`));
  };

  #kill(why: Error): void {
    this.#fail(why);
    // With its input closed it cancels its jobs and ends; commands that still wait for it have failed.
    this.#child.stdin.end();
  }

  #fail(error: Error): void {
    this.#ended ??= error;
    for (const { reject } of this.#waiting.values()) reject(this.#ended);
    this.#waiting.clear();
  }

  /** What starts Python may print lines of its own, such as a greeting: they go where all that Spark says goes. */
  #hear(line: string): void {
    const answer = answerIn(line);
    if (answer !== undefined) return this.#take(answer);
    try {
      appendFileSync(this.#log, `${line}\n`);
    } catch {
      // On a full disk the log lacks the line, as it lacks what Spark itself says.
    }
  }

  #take(answer: Answer): void {
    const id = answer.id ?? 0;
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    if (answer.executors !== undefined) {
      const tooLong = this.#executors.heard(answer.executors);
      if (tooLong !== undefined)
        this.#kill(new OfferlineError(`${tooLong}; its log is ${this.#log}. ${nothingIsLost}`));
      return;
    }
    if (answer.progress !== undefined) {
      waiting.onProgress(answer.progress);
      return;
    }
    this.#waiting.delete(id);
    if (answer.error === undefined) waiting.resolve(answer);
    else
      waiting.reject(
        new OfferlineError(
          `Spark: ${explainedError(this.#redactor.redact(answer.error), this.#work)}; its log is ${this.#log}. ${nothingIsLost}`,
        ),
      );
  }

  async #carryOut(command: object, onProgress?: (share: number) => void): Promise<void> {
    const id = ++this.#lastId;
    this.#executors.begin();
    await this.#answer(id, JSON.stringify({ ...command, id }), onProgress);
  }

  #answer(id: number, line: string, onProgress: (share: number) => void = () => {}): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.#ended !== undefined) {
        reject(this.#ended);
        return;
      }
      this.#waiting.set(id, { resolve, reject, onProgress });
      this.#child.stdin.write(`${line}\n`);
    });
  }
}

/** Undefined where the line is no answer of the driver. */
function answerIn(line: string): Answer | undefined {
  try {
    const answer = JSON.parse(line) as unknown;
    const isAnswer =
      typeof answer === 'object' && answer !== null && ['id', 'ready', 'error'].some((key) => key in answer);
    return isAnswer ? answer : undefined;
  } catch {
    return undefined;
  }
}

const nothingIsLost = 'Nothing of this run was committed; the next one reads the same files again';

function settingsOf(work: SparkWork): object {
  const { name, master, connect, executorMemory, executorCores, cores, driverMemory } = work;
  const wanted = {
    'spark.executor.memory': executorMemory,
    'spark.executor.cores': executorCores,
    'spark.cores.max': cores,
    'spark.driver.memory': driverMemory,
  };
  return {
    name,
    ...(connect === undefined ? { master } : { connect }),
    static: {
      'spark.ui.enabled': 'false',
      'spark.ui.showConsoleProgress': 'false',
      ...Object.fromEntries(
        Object.entries(wanted).flatMap(([key, value]) => (value === undefined ? [] : [[key, String(value)]])),
      ),
    },
    session: sessionSettings,
  };
}
