import { exitCode } from '../../kit/errors/errors.ts';
import type { Intent, Outcome } from './audit-log.ts';
import { exitWords } from './exit-words.ts';

/** `unknown`: the console that began it died before it heard of its end. */
export type JobState = 'running' | 'unknown' | Outcome['state'];

/** An action that was begun, and what is known of its end. */
export interface Job {
  id: string;
  action: string;
  title: string;
  user: string;
  requestId: string;
  digest: string;
  parameters: unknown;
  /** The same by hand. */
  command: string;
  /** What the preview said. */
  counts: Record<string, number>;
  startedAt: string;
  state: JobState;
  /** The state in words. */
  said: string;
  /** Null until it has ended, and where nobody heard of that. */
  end: JobEnd | null;
}

export interface JobEnd {
  at: string;
  exitCode: number | null;
  signal: string | null;
  runId: number | null;
  snapshotId: string | null;
  /** What was done, by the command's answer. */
  counts: Record<string, number>;
  error: string | null;
}

/** A job as the audit log tells of it; `isRunning`: by a process of this console. */
export function jobOf(intent: Intent, title: string, outcome: Outcome | undefined, isRunning: boolean): Job {
  const state = outcome?.state ?? (isRunning ? 'running' : 'unknown');
  return {
    id: intent.job,
    action: intent.action,
    title,
    user: intent.user,
    requestId: intent.request_id,
    digest: intent.digest,
    parameters: intent.parameters,
    command: intent.command,
    counts: intent.counts,
    startedAt: intent.at,
    state,
    said: stateWords(state, outcome),
    end: outcome === undefined ? null : endOf(outcome),
  };
}

function endOf({ at, exit_code, signal, run_id, snapshot_id, counts, error }: Outcome): JobEnd {
  return { at, exitCode: exit_code, signal, runId: run_id, snapshotId: snapshot_id, counts, error };
}

/** Of a job that nobody heard the end of, and that has answered. */
export const cameToItsEnd =
  'came to its end after the console had ended; whether without failure, its log and the runs tell';

function stateWords(state: JobState, outcome: Outcome | undefined): string {
  if (state === 'done' || state === 'failed') return exitWords(outcome?.exit_code ?? exitCode.failed);
  const words = {
    running: 'under way',
    unknown: 'ended by force, or unknown: the console ended before this did; its log and the runs tell how far it came',
    stopped: 'asked to end, since the console was; what is done stays done',
    killed: `ended by force (${outcome?.signal ?? 'unknown signal'}); what was good before stays`,
  };
  return words[state];
}
