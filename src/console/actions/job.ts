import { exitCode } from '../../kit/errors/errors.ts';
import type { ActionIntent, ActionOutcome } from './audit-log.ts';
import { exitCodeText } from './exit-code-text.ts';

/** `unknown`: the console that started the job died before the job ended. */
export type JobState = 'running' | 'unknown' | ActionOutcome['state'];

/** An action that was started, with its end as far as that is known. */
export interface Job {
  id: string;
  action: string;
  title: string;
  user: string;
  requestId: string;
  digest: string;
  parameters: unknown;
  /** The command as people type it. */
  command: string;
  /** The counts of the preview. */
  counts: Record<string, number>;
  startedAt: string;
  state: JobState;
  /** The state in words. */
  stateText: string;
  /** Null while the job runs, and where no console saw its end. */
  end: JobEnd | null;
}

export interface JobEnd {
  at: string;
  exitCode: number | null;
  signal: string | null;
  runId: number | null;
  snapshotId: string | null;
  /** The counts of the command's answer. */
  counts: Record<string, number>;
  error: string | null;
}

/** A job from its audit entries; `isRunning`: this console started it and its process runs. */
export function jobOf(
  intent: ActionIntent,
  title: string,
  outcome: ActionOutcome | undefined,
  isRunning: boolean,
): Job {
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
    stateText: stateTextOf(state, outcome),
    end: outcome === undefined ? null : endOf(outcome),
  };
}

function endOf({ at, exit_code, signal, run_id, snapshot_id, counts, error }: ActionOutcome): JobEnd {
  return { at, exitCode: exit_code, signal, runId: run_id, snapshotId: snapshot_id, counts, error };
}

/** The text of an unknown job whose command has written its answer. */
export const endedUnobserved = 'ended after the console had ended; its log and the runs show whether it failed';

function stateTextOf(state: JobState, outcome: ActionOutcome | undefined): string {
  if (state === 'done' || state === 'failed') return exitCodeText(outcome?.exit_code ?? exitCode.failed);
  const texts = {
    running: 'running',
    unknown: 'killed or unknown: the console ended before this job; its log and the runs show how far it came',
    stopped: 'stopped together with the console; finished steps stay',
    killed: `killed (${outcome?.signal ?? 'unknown signal'}); the last good state stays`,
  };
  return texts[state];
}
