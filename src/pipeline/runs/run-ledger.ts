import type { Moment } from '../../kit/time/moment.ts';
import type { StateDatabase } from '../warehouse/database.ts';
import type { DuckDBConnection } from '@duckdb/node-api';
import { kyselyOn } from '../warehouse/kysely.ts';

/** The error of a run or stage whose process died. */
export const endedByForce = 'process died mid-run';

/** `interrupted`: it was asked to end. */
type EndedAs = 'done' | 'failed' | 'interrupted';

/** Returns the number of the last run; 0 without any. */
export async function lastRunId(connection: DuckDBConnection): Promise<number> {
  const last = await kyselyOn(connection)
    .selectFrom('runs')
    .select((run) => run.fn.max<number | null>('run_id').as('run_id'))
    .executeTakeFirst();
  return last?.run_id ?? 0;
}

/** Rows that a stage read and wrote, where it counts any. */
export interface StageRows {
  rowsIn?: number | undefined;
  rowsOut?: number | undefined;
  bytes?: number | undefined;
}

/** Ledger of runs and their stages, the only record of what happened and what is due. */
export class RunLedger {
  readonly #state: StateDatabase;
  constructor(state: StateDatabase) {
    this.#state = state;
  }

  /** Opens a run's row. Marks runs that are still running as interrupted: their processes died, as the lock is ours. */
  async begin(pipeline: string, asOf: Moment, at: Moment, scheduledAt: Moment | null = null): Promise<number> {
    return this.#state.transaction(async () => {
      const { connection, db } = this.#state;
      for (const table of ['runs', 'run_stages'] as const)
        await db
          .updateTable(table)
          .set({ status: 'interrupted', error: endedByForce })
          .where('status', '=', 'running')
          .execute();
      const runId = (await lastRunId(connection)) + 1;
      await db
        .insertInto('runs')
        .values({ run_id: runId, pipeline, as_of: asOf, started_at: at, status: 'running', scheduled_at: scheduledAt })
        .execute();
      return runId;
    }, 'begin of run');
  }

  async end(
    runId: number,
    at: Moment,
    outcome: { status: EndedAs; snapshotId?: string | null; error?: string },
  ): Promise<void> {
    await this.#state.statement(
      () =>
        this.#state.db
          .updateTable('runs')
          .set({
            finished_at: at,
            status: outcome.status,
            snapshot_id: outcome.snapshotId ?? null,
            error: outcome.error ?? null,
          })
          .where('run_id', '=', runId)
          .execute(),
      'end of run',
    );
  }

  /** Ends everything marked as running, after a run's database failed so that the run could not. */
  async endRunning(at: Moment, error: string): Promise<void> {
    await this.#state.transaction(async () => {
      for (const table of ['runs', 'run_stages'] as const)
        await this.#state.db
          .updateTable(table)
          .set({ finished_at: at, status: 'failed', error })
          .where('status', '=', 'running')
          .execute();
    }, 'end of run in a new opening');
  }

  async beginStage(runId: number, stage: string, at: Moment): Promise<void> {
    await this.#state.statement(
      () =>
        this.#state.db
          .insertInto('run_stages')
          .values({ run_id: runId, stage, started_at: at, status: 'running' })
          .execute(),
      `begin of ${stage}`,
    );
  }

  async endStage(
    runId: number,
    stage: string,
    at: Moment,
    outcome: StageRows & { status: EndedAs; error?: string },
  ): Promise<void> {
    await this.#state.statement(
      () =>
        this.#state.db
          .updateTable('run_stages')
          .set({
            finished_at: at,
            status: outcome.status,
            error: outcome.error ?? null,
            rows_in: outcome.rowsIn ?? null,
            rows_out: outcome.rowsOut ?? null,
            bytes: outcome.bytes ?? null,
          })
          .where('run_id', '=', runId)
          .where('stage', '=', stage)
          .execute(),
      `end of ${stage}`,
    );
  }
}
