import { purgeAttempts } from '../postbacks/store/purge-attempts.ts';
import { addDays, dateOf, dayOf, startOfDay, type Moment } from '../time/moment.ts';
import type { Run, Stage } from '../runs/stage.ts';
import type { StateDatabase } from '../warehouse/database.ts';

export interface RetainSummary {
  /** Runs that were deleted from the ledger. */
  runs: number;
  /** Attempts at delivering postbacks that were deleted. */
  attempts: number;
}

/** Deletes what is older than configured, by whole UTC days. Old clicks' details go when their days are compacted. */
export const retainStage: Stage<StateDatabase, RetainSummary> = {
  name: 'retain',
  async run(run, state) {
    const { runs, attempts } = run.settings.retention;
    return {
      runs: runs === undefined ? 0 : await purgeRuns(state, keptFrom(run, runs)),
      attempts: attempts === undefined ? 0 : await purgeDeliveryAttempts(run, state, keptFrom(run, attempts)),
    };
  },
};

function keptFrom({ asOf }: Run, days: number): Moment {
  return startOfDay(addDays(dayOf(asOf), -days));
}

/** The newest run of each pipeline stays: the schedule remembers by it, and run numbers go on from the highest. */
async function purgeRuns(state: StateDatabase, before: Moment): Promise<number> {
  const { connection } = state;
  return state.transaction(async () => {
    const { rowsChanged } = await connection.run(
      `DELETE FROM runs WHERE started_at < $1::TIMESTAMPTZ AND run_id NOT IN (
         SELECT max(run_id) FROM runs GROUP BY pipeline
         UNION ALL
         SELECT max(run_id) FROM runs WHERE scheduled_at IS NOT NULL AND status IN ('done', 'failed') GROUP BY pipeline)`,
      [before],
    );
    await connection.run('DELETE FROM run_stages WHERE run_id NOT IN (SELECT run_id FROM runs)');
    return rowsChanged;
  }, 'retention of runs');
}

/** First where they come from, then here. The newest day's file stays, since a view over no file fails. */
async function purgeDeliveryAttempts(run: Run, state: StateDatabase, before: Moment): Promise<number> {
  const { connection } = state;
  await run.effects.perform('delivery store: old attempts removed', async () =>
    purgeAttempts(run.data, dateOf(before).getTime()),
  );
  return state.transaction(async () => {
    const { rowsChanged } = await connection.run('DELETE FROM delivery_attempts WHERE started_at < $1::TIMESTAMPTZ', [
      before,
    ]);
    await connection.run(
      `DELETE FROM mart_files WHERE mart = 'postback_attempts' AND day < $1::TIMESTAMPTZ::DATE
         AND day < (SELECT max(day) FROM mart_files WHERE mart = 'postback_attempts')`,
      [before],
    );
    return rowsChanged;
  }, 'retention of attempts');
}
