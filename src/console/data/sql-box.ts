import { OfferlineError, StoppedError } from '../../kit/errors/errors.ts';
import type { QueryTable } from '../../pipeline/analysis/answer-query.ts';
import { QueryProcess } from '../../pipeline/analysis/query-process/query-process.ts';
import { SerialQueue } from './serial-queue.ts';

/** Rows of an answer; more is for `offerline sql`. */
export const maxBoxRows = 1000;
/** A query that takes longer is ended. Milliseconds. */
const queryMilliseconds = 5_000;
/** Queries behind the one that runs. */
const maxWaiting = 2;
const duckdb = { threads: '1', memory_limit: '256MiB', max_temp_directory_size: '1GiB' };

/**
 * Answers people's queries on a snapshot, in a process of their own: pages do not wait for it. As on every page
 * addresses, agents and rejected rows of logs are not to be seen.
 */
export class SqlBox {
  readonly #queue = new SerialQueue(maxWaiting);
  readonly #process = new QueryProcess();
  readonly #milliseconds: number;

  constructor(milliseconds = queryMilliseconds) {
    this.#milliseconds = milliseconds;
  }

  /** Throws `OfferlineError` for what is no query of tables and where it fails, and `TooBusyError`. */
  ask(folder: string, sql: string): Promise<QueryTable> {
    return this.#queue.run(async () => {
      const stop = AbortSignal.timeout(this.#milliseconds);
      try {
        return await this.#process.ask({ folder, sql, maxRows: maxBoxRows, tablesOnly: true, duckdb }, stop);
      } catch (error) {
        if (!(error instanceof StoppedError)) throw error;
        const seconds = this.#milliseconds / 1000;
        throw new OfferlineError(`it took longer than ${seconds} s: ask for less, or use \`offerline sql\``);
      }
    });
  }

  close(): void {
    this.#process.close();
  }
}
