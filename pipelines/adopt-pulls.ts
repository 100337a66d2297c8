import type { DataDirectory } from '../src/kit/config/data-directory.ts';
import type { Logger } from '../src/kit/logging/log.ts';
import { lastRunId } from '../src/pipeline/runs/run-ledger.ts';
import { PullLedger } from '../src/sources/pull-ledger.ts';
import type { StateDatabase } from '../src/pipeline/warehouse/database.ts';
import { readMetadata, writeMetadata } from '../src/pipeline/warehouse/metadata.ts';

/** Key of the last pull that the run ledger has. */
const adoptedKey = 'pulls_adopted';

/** Returns the name of a source's pull in the run ledger. */
function pullPipeline(source: string): string {
  return `pull ${source}`;
}

/**
 * Copies pulls that have ended into the run ledger, each as a run with one stage. A pull does not do that itself, since
 * it would wait for the run that holds the warehouse.
 */
export async function adoptPulls(data: DataDirectory, state: StateDatabase, logger: Logger): Promise<void> {
  const before = Number((await readMetadata(state.connection, adoptedKey)) ?? 0);
  const pulls = PullLedger.read(
    data,
    // One that was put aside as damaged had pulls of higher numbers.
    (ledger) => ledger.endedAfter(ledger.newestId < before ? 0 : before),
    ({ message }) => logger.warn(`the run ledger goes without pulls: ${message}`),
  );
  if (pulls === undefined) return;
  const last = pulls.at(-1);
  if (last === undefined) return;
  await state.transaction(async () => {
    const lastRun = await lastRunId(state.connection);
    const runs = pulls.map((pull, index) => ({
      run_id: lastRun + 1 + index,
      started_at: pull.started_at,
      finished_at: pull.finished_at,
      status: pull.status,
      error: pull.error,
    }));
    await state.db
      .insertInto('runs')
      .values(
        runs.map((run, index) => ({
          ...run,
          pipeline: pullPipeline(pulls[index]?.source ?? ''),
          as_of: run.started_at,
        })),
      )
      .execute();
    await state.db
      .insertInto('run_stages')
      .values(runs.map((run, index) => ({ ...run, stage: 'pull', rows_in: pulls[index]?.records ?? null })))
      .execute();
    await writeMetadata(state.connection, adoptedKey, String(last.pull_id));
  }, 'pulls adopted');
}
