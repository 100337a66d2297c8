import { Worker } from 'node:worker_threads';
import { OfferlineError, type ExitCode } from '../../../kit/errors/errors.ts';
import { programFile } from '../../../kit/files/package-files.ts';
import { answerQuery, type QueryOrder, type QueryTable } from '../answer-query.ts';

/** The outcome of a query, and the memory of the process after it. */
export interface QueryReport {
  answer?: QueryTable;
  refusal?: { message: string; exitCode: ExitCode };
  /** An error that is none of the query's. */
  failure?: string;
  memory: number;
}

/* The process in which `query-process.ts` has queries answered, one after the other. */
async function reportOf(order: QueryOrder): Promise<Omit<QueryReport, 'memory'>> {
  try {
    return { answer: await answerQuery(order) };
  } catch (error) {
    if (!(error instanceof OfferlineError)) return { failure: (error as Error).stack ?? String(error) };
    return { refusal: { message: error.message, exitCode: error.exitCode } };
  }
}

const program = programFile('src/pipeline/analysis/query-process/memory-watch');
const watch = new Worker(program, { workerData: Number(process.argv[2]) });
// Without its watch the process answers nothing.
watch.once('exit', () => process.exit(1));
// An exit would wait for the statement that runs.
process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'));
process.on('message', (order: QueryOrder) => {
  void reportOf(order).then((report) => process.send?.({ ...report, memory: process.memoryUsage.rss() }));
});
