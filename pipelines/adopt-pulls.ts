import type { DataDirectory } from '../src/kit/config/data-directory.ts';
import type { Logger } from '../src/kit/logging/log.ts';
import { lastRunId } from '../src/pipeline/runs/run-ledger.ts';
import type { Moment } from '../src/kit/time/moment.ts';
import { PullLedger, type Pull } from '../src/sources/pull-ledger.ts';
import type { StateDatabase } from '../src/pipeline/warehouse/database.ts';
import { readMetadata, writeMetadata } from '../src/pipeline/warehouse/metadata.ts';

/** Keys of the last pull that the run ledger has, and of its begin: each machine's ledger of pulls counts from one. */
const adoptedKey = 'pulls_adopted';
const adoptedBeginKey = 'pulls_adopted_begin';

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
  const begin = await readMetadata(state.connection, adoptedBeginKey);
  const ended = PullLedger.read(
    data,
    (ledger) => {
      const here = ledger.beginOf(before);
      // Another ledger is that of a machine that took over, or follows on one that was put aside as damaged.
      return ledger.endedAfter(here !== undefined && here === (begin ?? here) ? before : 0);
    },
    ({ message }) => logger.warn(`the run ledger goes without pulls: ${message}`),
  );
  const last = ended?.at(-1);
  if (ended === undefined || last === undefined) return;
  const known = await knownPulls(state, ended);
  const pulls = ended.filter((pull) => !known.has(keyOf(pullPipeline(pull.source), pull.started_at)));
  await state.transaction(async () => {
    await writeMetadata(state.connection, adoptedKey, String(last.pull_id));
    await writeMetadata(state.connection, adoptedBeginKey, last.started_at);
    if (pulls.length === 0) return;
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
  }, 'pulls adopted');
}

/** Returns keys of those pulls that the run ledger has: this machine was the writer before. */
async function knownPulls({ db }: StateDatabase, pulls: readonly Pull[]): Promise<ReadonlySet<string>> {
  const begins = pulls.map(({ started_at }) => started_at);
  const runs = await db
    .selectFrom('runs')
    .select(['pipeline', 'started_at'])
    .where('started_at', 'in', begins)
    .execute();
  return new Set(runs.map(({ pipeline, started_at }) => keyOf(pipeline, started_at)));
}

function keyOf(pipeline: string, startedAt: Moment): string {
  return `${pipeline} ${Date.parse(startedAt)}`;
}
