import type { DuckDBConnection } from '@duckdb/node-api';
import { countRows, makeTempTable, type TempTable } from '../../../kit/duckdb/temp-table.ts';
import type { Run } from '../../runs/stage.ts';
import type { EventEngine } from '../engine/event-engine.ts';
import { markDaysOfConversions } from '../../warehouse/dirty-partitions.ts';
import { eventKey } from '../../../kit/vocabulary/event-key.ts';
import { filesThatMayHold, type KeyRunsOf } from '../../warehouse/keys/event-keys.ts';
import { eventRelation } from '../../warehouse/event-files.ts';

const eventFields = 'conversion_id, kind, click_id, occurred_at, event_id, payout, reason, file_id';
/** Columns of `conversion_events`. */
const recordedFields = `${eventFields}, known_at`;

/** This run's conversion events, all of which are new. */
export type NewConversionEvents = TempTable<'new_conversion_events'>;
/** The clicks of this run or an earlier one that conversion events named and that are known only now. */
export type FoundClicks = TempTable<'found_clicks'>;

type RunClock = Pick<Run, 'asOf' | 'wallClock'>;

/** Returns SQL of the moment from which facts of this run are known: never before that of an earlier run. */
function knownAt({ asOf, wallClock }: RunClock): string {
  return `greatest(TIMESTAMPTZ '${asOf}', TIMESTAMPTZ '${wallClock}')`;
}

/** Writes the run's new conversion events into the state and marks the days they may change. */
export async function recordConversionEvents(
  run: RunClock,
  connection: DuckDBConnection,
  newFiles: readonly string[],
): Promise<NewConversionEvents> {
  const newEvents = await makeTempTable(
    connection,
    'new_conversion_events',
    `SELECT ${eventFields}, ${knownAt(run)} AS known_at FROM ${eventRelation('conversions', newFiles)}`,
  );
  await connection.run(`INSERT INTO conversion_events (${recordedFields}) FROM ${newEvents}`);
  await markDaysOfConversions(connection, `SELECT conversion_id FROM ${newEvents}`);
  return newEvents;
}

/**
 * Finds the clicks that conversion events name, once they have been ingested: for this run's events among all clicks,
 * for older ones that still wait among this run's clicks only. Offers are resolved by the models, so a conversion
 * whose offer is still unknown resolves by itself.
 */
export async function attributeConversions(
  keyRuns: Omit<KeyRunsOf, 'effects'> & RunClock,
  engine: EventEngine,
  newEvents: NewConversionEvents,
  newClickFiles: readonly string[],
): Promise<FoundClicks> {
  const { connection } = keyRuns;
  const unknown = await makeTempTable(
    connection,
    'unknown_clicks',
    `SELECT click_id FROM ${newEvents}
     EXCEPT
     SELECT click_id FROM conversion_clicks WHERE click_id IN (SELECT click_id FROM ${newEvents})`,
  );
  const sought = await makeTempTable(
    connection,
    'sought_clicks',
    `SELECT click_id FROM ${unknown} UNION SELECT click_id FROM waiting_clicks`,
  );
  const none = (await countRows(connection, sought)) === 0;
  // Those that still wait are in no file of before.
  const known = none
    ? []
    : await filesThatMayHold(keyRuns, 'clicks', `SELECT ${eventKey.clicks} AS event_key FROM ${unknown}`);
  const files = none ? [] : [...new Set([...known, ...newClickFiles])];
  const found = await makeTempTable(connection, 'found_clicks', await engine.findClicks(sought, files));
  if (none) return found;
  await connection.run(`INSERT INTO conversion_clicks BY NAME SELECT *, ${knownAt(keyRuns)} AS known_at FROM ${found}`);
  await connection.run(`DELETE FROM waiting_clicks WHERE click_id IN (SELECT click_id FROM ${found})`);
  await connection.run(
    `INSERT INTO waiting_clicks
     SELECT click_id FROM ${unknown} WHERE click_id NOT IN (SELECT click_id FROM ${found} UNION ALL FROM waiting_clicks)`,
  );
  await markDaysOfConversions(
    connection,
    `SELECT conversion_id FROM conversion_events WHERE click_id IN (SELECT click_id FROM ${found})`,
  );
  return found;
}
