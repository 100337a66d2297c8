import type { DuckDBConnection } from '@duckdb/node-api';
import { queryRows } from '../../../kit/duckdb/dialect/rows.ts';
import { showProgress } from '../../../kit/duckdb/query-progress.ts';
import type { Run } from '../../runs/stage.ts';
import { withFunctions } from '../../sql/model-query.ts';
import { eventKey } from '../../../kit/vocabulary/event-key.ts';
import { eventRelation, withPlace } from '../../warehouse/event-files.ts';
import { findDuplicates } from './duplicates.ts';
import type { EventEngine, StagedEvents, StagingWork } from './event-engine.ts';
import { stageEvents, withoutDuplicates } from './stage-events.ts';

/** The run's own DuckDB, in its transaction. */
export class DuckdbEngine implements EventEngine {
  readonly name = 'duckdb';
  readonly #run: Pick<Run, 'data' | 'effects' | 'progress'>;
  readonly #connection: DuckDBConnection;

  constructor(run: Pick<Run, 'data' | 'effects' | 'progress'>, connection: DuckDBConnection) {
    this.#run = run;
    this.#connection = connection;
  }

  async stage({ schema, batch, history, reduced }: StagingWork): Promise<StagedEvents> {
    const parsed = await showProgress(this.#connection, this.#run.progress, `parsing ${schema.kind}`, () =>
      stageEvents(this.#connection, schema, batch, this.#run),
    );
    const paths = parsed.days.map(({ path }) => path);
    const known = await history(`SELECT event_key FROM ${eventRelation(schema.kind, paths)}`);
    const duplicates = await findDuplicates(this.#connection, schema, batch, parsed, known, reduced);
    const { days, rejected } = await withoutDuplicates(this.#connection, schema, parsed, duplicates.events, this.#run);
    return { days, rejected, duplicates: duplicates.byFile };
  }

  clickHours(files: readonly string[]): Promise<string> {
    return Promise.resolve(clickHours(files));
  }

  findClicks(clickIds: string, files: readonly string[]): Promise<string> {
    return findClicks(this.#connection, clickIds, files);
  }

  /** The connection is the run's. */
  async [Symbol.asyncDispose](): Promise<void> {}
}

/**
 * Hours are counted by number and named after: truncating two million timestamps by calendar takes longer than counting
 * them.
 */
const microsecondsPerHour = 3_600_000_000;
/**
 * Integer division rounds towards zero, so hours count from the earliest one that a click can have, 0001-01-01: as long
 * before 1970.
 */
const earliestMicroseconds = -62_135_596_800_000_000n;

/** SQL for the clicks of event files, one row per UTC hour and offer as the clicks name it. */
function clickHours(files: readonly string[]): string {
  return withFunctions(`
    SELECT make_timestamptz(hour_number * ${microsecondsPerHour} + ${earliestMicroseconds}) AS hour, coalesce(offer_id, 0) AS offer_id,
      name_part(offer_id, source) AS source, name_part(offer_id, external_id) AS external_id, sum(clicks)::BIGINT AS clicks
    FROM (
      SELECT (epoch_us(clicked_at) - ${earliestMicroseconds}) // ${microsecondsPerHour} AS hour_number, offer_id, source, external_id, count(*) AS clicks
      FROM ${eventRelation('clicks', files)} GROUP BY ALL)
    GROUP BY ALL`);
}

/**
 * SQL for the clicks with these ids: first only the 8-byte key of every click is read, then whole rows of the files
 * that hold one.
 */
async function findClicks(connection: DuckDBConnection, clickIds: string, files: readonly string[]): Promise<string> {
  const isSought = `event_key IN (SELECT ${eventKey.clicks} FROM ${clickIds})`;
  const holding =
    files.length === 0
      ? []
      : await queryRows<{ filename: string }>(
          connection,
          `SELECT DISTINCT filename FROM ${eventRelation('clicks', files, withPlace)} WHERE ${isSought}`,
        );
  const clicks = eventRelation(
    'clicks',
    holding.map(({ filename }) => filename),
  );
  return `SELECT click_id, offer_id, source, external_id, site_key, user_id, clicked_at, country, device, sub1, sub2
     FROM ${clicks} WHERE ${isSought} AND click_id IN (SELECT click_id FROM ${clickIds})`;
}
