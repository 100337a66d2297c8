import { fork, type ChildProcess } from 'node:child_process';
import { OfferlineError, StoppedError } from '../../../kit/errors/errors.ts';
import { programFile } from '../../../kit/files/package-files.ts';
import type { QueryOrder, QueryTable } from '../answer-query.ts';
import { sweepSpills } from '../../../kit/duckdb/spill-folder.ts';
import type { QueryReport } from './query-program.ts';

const program = programFile('src/pipeline/analysis/query-process/query-program');
/** Memory of the process, beyond which it is killed: 128 MiB before a query, and 256 of DuckDB. MiB. */
const maxMemory = 512;
/** Memory after a query, beyond which the next one has a new process. MiB. */
const maxIdleMemory = 256;
/** A process without queries for so long is ended. Milliseconds. */
const idleMilliseconds = 60_000;

/**
 * Answers queries in a process of their own, one at a time. DuckDB counts no texts of the values that it computes, and
 * ends a statement only between two of its vectors: memory and time of a query are bounded by killing its process.
 */
export class QueryProcess {
  #child: ChildProcess | undefined;
  #idle: NodeJS.Timeout | undefined;

  /** Throws `OfferlineError` for a query that is refused, fails or takes too much, `StoppedError` after `stop`. */
  async ask(order: QueryOrder, stop = new AbortController().signal): Promise<QueryTable> {
    clearTimeout(this.#idle);
    const child = (this.#child ??= this.#start());
    const kill = () => void child.kill('SIGKILL');
    stop.addEventListener('abort', kill);
    if (stop.aborted) kill();
    try {
      const reported = reportOf(child);
      child.send(order);
      const { answer, refusal, failure, memory } = await reported;
      if (memory > maxIdleMemory * 2 ** 20) this.close();
      if (refusal !== undefined) throw new OfferlineError(refusal.message, refusal.exitCode);
      if (answer === undefined) throw new Error(failure);
      return answer;
    } catch (error) {
      if (!(error instanceof KilledError)) throw error;
      // Of a killed process they are left.
      sweepSpills();
      if (stop.aborted) throw new StoppedError('the query was asked to end before it had its answer');
      throw error;
    } finally {
      stop.removeEventListener('abort', kill);
      this.#idle = setTimeout(() => this.close(), idleMilliseconds).unref();
    }
  }

  close(): void {
    clearTimeout(this.#idle);
    this.#child?.kill('SIGKILL');
    this.#child = undefined;
  }

  #start(): ChildProcess {
    const child = fork(program, [String(maxMemory * 2 ** 20)], { stdio: 'ignore', serialization: 'advanced' });
    const drop = () => {
      if (this.#child === child) this.#child = undefined;
    };
    // An error of a child that could not be spawned, or of a message that it did not live to get.
    return child.once('exit', drop).on('error', drop);
  }
}

/** The process of a query was killed: by us, by its own watch, or by the system. */
class KilledError extends OfferlineError {}

function reportOf(child: ChildProcess): Promise<QueryReport> {
  const { promise, resolve, reject } = Promise.withResolvers<QueryReport>();
  const onExit = (code: number | null) =>
    reject(
      code === null
        ? new KilledError(`it takes more than the ${maxMemory} MiB of a query: ask for less, or use \`offerline sql\``)
        : new Error(`the process of a query ended with code ${code}`),
    );
  child.once('message', resolve);
  child.once('exit', onExit);
  child.once('error', reject);
  return promise.finally(() => child.off('message', resolve).off('exit', onExit).off('error', reject));
}
