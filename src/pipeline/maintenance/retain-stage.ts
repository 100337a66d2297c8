import { hasStore, openStore } from '../../postbacks/open-store.ts';
import { addDays, dateOf, dayOf, startOfDay, type Day, type Moment } from '../../kit/time/moment.ts';
import type { Run, Stage } from '../runs/stage.ts';
import type { StateDatabase } from '../warehouse/database.ts';

interface RetainSummary {
  /** Deleted runs of the ledger. */
  runs: number;
  /** Deleted delivery attempts. */
  attempts: number;
}

/** Deletes runs and attempts older than configured, by whole UTC days. Compaction removes old clicks' details. */
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

/** Deletes old runs, but keeps each pipeline's newest: the schedule reads it, and run numbers follow the highest. */
async function purgeRuns(state: StateDatabase, before: Moment): Promise<number> {
  const { db } = state;
  return state.transaction(async () => {
    const newest = db
      .selectFrom('runs')
      .select(({ fn }) => fn.max<number>('run_id').as('run_id'))
      .groupBy('pipeline');
    const { numDeletedRows } = await db
      .deleteFrom('runs')
      .where('started_at', '<', before)
      .where('run_id', 'not in', newest)
      .where('run_id', 'not in', newest.where('scheduled_at', 'is not', null).where('status', 'in', ['done', 'failed']))
      .executeTakeFirstOrThrow();
    await db.deleteFrom('run_stages').where('run_id', 'not in', db.selectFrom('runs').select('run_id')).execute();
    return Number(numDeletedRows);
  }, 'retention of runs');
}

/** Deletes old attempts in the delivery store, then in the warehouse. Keeps the newest day's file: a view needs one. */
async function purgeDeliveryAttempts(run: Run, state: StateDatabase, before: Moment): Promise<number> {
  const { db } = state;
  if (hasStore(run.data, run.settings)) {
    const store = await openStore(run.data, run.settings);
    try {
      await run.effects.perform('delivery store: old attempts removed', () =>
        store.purgeAttempts(dateOf(before).getTime()),
      );
    } finally {
      await store.close();
    }
  }
  return state.transaction(async () => {
    const { numDeletedRows } = await db
      .deleteFrom('delivery_attempts')
      .where('started_at', '<', before)
      .executeTakeFirstOrThrow();
    await db
      .deleteFrom('mart_files')
      .where('mart', '=', 'postback_attempts')
      .where('day', '<', dayOf(before))
      .where('day', '<', (files) =>
        files
          .selectFrom('mart_files')
          .select(({ fn }) => fn.max<Day>('day').as('day'))
          .where('mart', '=', 'postback_attempts'),
      )
      .execute();
    return Number(numDeletedRows);
  }, 'retention of attempts');
}
