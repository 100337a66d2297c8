import type { EventKind } from '../../kit/vocabulary/values.ts';
import type { Day } from '../../kit/time/moment.ts';
import type { Run } from '../runs/stage.ts';
import type { StateDatabase } from '../warehouse/database.ts';
import { clickDetails, eventOrder } from '../warehouse/event-files.ts';
import { writeMergedFile } from '../warehouse/merge-event-files.ts';

/** Form of a compacted file: `sorted`, or `reduced`, which also lacks the clicks' details. */
type CompactForm = 'sorted' | 'reduced';

/** UTC day of one log. */
export interface EventDay {
  kind: EventKind;
  day: Day;
  form: CompactForm;
}

interface CompactedDay {
  /** Files that were merged. */
  files: number;
  rows: number;
  bytesBefore: number;
  bytesAfter: number;
}

/**
 * Merges a day's event files into one, with the same rows and columns, sorted by event key. Its row in `event_files`
 * replaces theirs in one transaction. The next run sweeps the old files, when a copy of the state exists that does not
 * need them; published snapshots keep their hard links. Throws `OfferlineError` for a damaged file.
 */
export async function compactDay(run: Run, state: StateDatabase, { kind, day, form }: EventDay): Promise<CompactedDay> {
  const { connection, db } = state;
  const old = await db
    .selectFrom('event_files')
    .select(['path', 'rows', 'bytes', 'sha256'])
    .where('kind', '=', kind)
    .where('day', '=', day)
    .orderBy('path')
    .execute();
  const about = { kind, day, step: `compacted ${kind}`, name: form };
  const compacted = await writeMergedFile({ ...run, connection }, about, old, (all) => sorted(kind, form, all));
  await state.transaction(async () => {
    await db.deleteFrom('event_files').where('kind', '=', kind).where('day', '=', day).execute();
    await db
      .insertInto('event_files')
      .values({ ...compacted, kind, day, run_id: run.runId, form })
      .execute();
  }, `compacted ${kind}`);
  return {
    files: old.length,
    rows: compacted.rows,
    bytesBefore: old.reduce((sum, file) => sum + file.bytes, 0),
    bytesAfter: compacted.bytes,
  };
}

function sorted(kind: EventKind, form: CompactForm, all: string): string {
  const emptied =
    kind === 'clicks' && form === 'reduced'
      ? ` REPLACE (${clickDetails.map((name) => `NULL::VARCHAR AS ${name}`).join(', ')})`
      : '';
  return `SELECT *${emptied} FROM ${all} ORDER BY ${eventOrder[kind]}`;
}
