import type { DataDirectory } from '../../kit/config/data-directory.ts';
import type { UnreadableNote } from '../../kit/files/note-file.ts';
import { dateOf } from '../../kit/time/moment.ts';
import { headline } from '../../kit/text/headline.ts';
import { readOutcomes, type PipelineOutcome } from '../runs/pipeline-outcomes.ts';

/** Last outcome of a pipeline on this machine, with the time since then. */
export interface PipelineReport extends PipelineOutcome {
  age_seconds: number;
  /** Time since the last good run; null without one. */
  last_good_age_seconds: number | null;
}

/** `now` in milliseconds since the epoch. */
export function readPipelineReports(
  data: DataDirectory,
  now: number,
  onUnreadable?: (unreadable: UnreadableNote) => void,
): PipelineReport[] {
  const ageOf = (moment: string) => Math.max(0, Math.round((now - dateOf(moment).getTime()) / 1000));
  return readOutcomes(data, onUnreadable).map((outcome) => ({
    ...outcome,
    age_seconds: ageOf(outcome.at),
    last_good_age_seconds: outcome.last_good_at === null ? null : ageOf(outcome.last_good_at),
  }));
}

/**
 * Returns such as "the last pass over postbacks failed at …: …"; undefined where it did not. Other pipelines have
 * ledgers, which say more. One on standby delivers nothing, and another may have made up for its failure.
 */
export function describeFailedDelivery(pipelines: readonly PipelineReport[], role: string): string | undefined {
  const last = pipelines.find(({ pipeline }) => pipeline === 'postbacks');
  if (last?.outcome !== 'failed' || role === 'stands_by') return undefined;
  return `the last pass over postbacks failed at ${last.at}: ${headline(last.error ?? '')}`;
}
