import type { LogSchema } from '../../landing/logs/log-fields.ts';
import type { Day } from '../../../kit/time/moment.ts';
import { clickDetails } from '../../warehouse/event-files.ts';
import type { LogBatch } from './log-batch.ts';

/**
 * The work that grows with the number of events. Everything else, the ledger and the commit above all, stays with the
 * run and its DuckDB: files of an engine count once the run's transaction names them, so nothing is lost or doubled
 * whatever becomes of an engine or its retries. Any engine gives the same rows, counts and winners among copies;
 * `test/pipeline/ingest/engine/contract.ts` says how that is shown. Disposed of at the end of a run.
 */
export interface EventEngine extends AsyncDisposable {
  readonly name: string;
  /**
   * Reads a batch of checked files into deduplicated events by UTC day. Of equal events the first is kept, by
   * place in the batch, then line; events that history has are dropped. Gives the same for the same input, whatever an
   * earlier try left.
   */
  stage(work: StagingWork): Promise<StagedEvents>;
  /**
   * The clicks of event files by UTC hour and offer: SQL of a relation `(hour, offer_id, source, external_id, clicks)`,
   * where an offer is named by source and external_id, its offer_id is 0.
   */
  clickHours(files: readonly string[]): Promise<string>;
  /**
   * The clicks with these ids in event files: SQL of a relation with the columns of `conversion_clicks` but `known_at`.
   * `clickIds` is SQL of a relation `(click_id)`.
   */
  findClicks(clickIds: string, files: readonly string[]): Promise<string>;
}

export interface StagingWork {
  schema: LogSchema;
  batch: LogBatch;
  /** The event files that may hold one of the keys. `keys`: SQL of a column `event_key`. */
  history: (keys: string) => Promise<readonly string[]>;
  /** Among the files of history those whose clicks have lost their details: a copy that has them says nothing else. */
  reduced: ReadonlySet<string>;
}

/** Parquet files in the scratch folder, not yet part of the warehouse. */
export interface StagedFiles {
  /** Events with the columns of event files and `warnings`, one or more files per UTC day. */
  days: { day: Day; path: string }[];
  /** Files of rejected rows: only `file_id` and `reject` mean anything there. */
  rejected: string[];
}

export interface StagedEvents extends StagedFiles {
  /**
   * Counts of events that came before, and of those among them that differ from the first, by ledger number of their
   * file. Files without any are left out.
   */
  duplicates: ReadonlyMap<number, { duplicates: number; conflicts: number }>;
}

/** The fields that an event never loses. */
export function lastingFields({ fields }: LogSchema): LogSchema['fields'] {
  return fields.filter(({ name }) => !clickDetails.includes(name));
}
