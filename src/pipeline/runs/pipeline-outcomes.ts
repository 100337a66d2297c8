import { z } from 'zod';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { exitCode, OfferlineError, StoppedError } from '../../kit/errors/errors.ts';
import { makePrivateFolder, replaceFile, type Effects } from '../../kit/files/effects.ts';
import { readNote, type UnreadableNote } from '../../kit/files/note-file.ts';
import type { Logger } from '../../kit/logging/log.ts';
import { momentOfMilliseconds } from '../../kit/time/moment.ts';

/** Pipelines whose outcomes are noted. A stage that is run alone is none: a refresh makes up for it. */
const pipelines = ['refresh', 'postbacks', 'pull', 'pictures', 'maintenance', 'backfill'] as const;

/** How the last run of a pipeline on this machine ended, by whichever command and whether or not a ledger has it. */
export type PipelineOutcome = z.output<typeof outcomeSchema>;

const outcomeSchema = z.object({
  pipeline: z.enum(pipelines),
  /** `stopped`: it was asked to end. */
  outcome: z.enum(['done', 'failed', 'stopped']),
  at: z.string(),
  error: z.string().nullable(),
  /** End of the last good run; null without one since notes are written. */
  last_good_at: z.string().nullable(),
});

export interface NotingOutcome {
  data: DataDirectory;
  effects: Effects;
  logger: Logger;
}

/**
 * Does a pipeline's work and notes how it ended. One that found another at work leaves the note as it is. `stop`:
 * aborted where work that returns all the same was asked to end.
 */
export async function withNotedOutcome<Result>(
  noting: NotingOutcome,
  pipeline: string,
  work: () => Promise<Result>,
  stop?: AbortSignal,
): Promise<Result> {
  let result: Result;
  try {
    result = await work();
  } catch (error) {
    await noteOutcome(noting, pipeline, error);
    throw error;
  }
  await noteOutcome(noting, pipeline, stop?.aborted === true ? new StoppedError('it was asked to end') : undefined);
  return result;
}

/** `cause`: why it failed; undefined of a good run. Where the note cannot be written the run ends as without it. */
export async function noteOutcome(
  { data, effects, logger }: NotingOutcome,
  pipeline: string,
  cause?: unknown,
): Promise<void> {
  if (!isNotedPipeline(pipeline) || (cause instanceof OfferlineError && cause.exitCode === exitCode.busy)) return;
  const at = momentOfMilliseconds(effects.now());
  const reason = cause instanceof Error ? cause.message : String(cause);
  try {
    const noted: PipelineOutcome = {
      pipeline,
      outcome: cause === undefined ? 'done' : cause instanceof StoppedError ? 'stopped' : 'failed',
      at,
      error: cause === undefined ? null : reason,
      last_good_at: cause === undefined ? at : (readOutcome(data, pipeline)?.last_good_at ?? null),
    };
    makePrivateFolder(data.warehouse);
    makePrivateFolder(data.outcomes);
    const file = data.outcomeFile(pipeline);
    await replaceFile(file, `${JSON.stringify(noted)}\n`, 'pipeline outcome', effects.files, 0o600);
  } catch (error) {
    logger.warn({ err: error }, `the outcome of ${pipeline} could not be noted; \`status\` shows the one before`);
  }
}

/** Returns undefined where none was noted, or the note cannot be read. */
export function readOutcome(
  data: DataDirectory,
  pipeline: string,
  onUnreadable?: (unreadable: UnreadableNote) => void,
): PipelineOutcome | undefined {
  return readNote(data.outcomeFile(pipeline), outcomeSchema, onUnreadable);
}

/** Returns the last outcome of every pipeline that has run here. */
export function readOutcomes(
  data: DataDirectory,
  onUnreadable?: (unreadable: UnreadableNote) => void,
): PipelineOutcome[] {
  return pipelines.flatMap((pipeline) => readOutcome(data, pipeline, onUnreadable) ?? []);
}

/** Whether outcomes of the pipeline are noted. */
export function isNotedPipeline(pipeline: string): pipeline is PipelineOutcome['pipeline'] {
  return pipelines.some((each) => each === pipeline);
}
