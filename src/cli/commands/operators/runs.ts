import type { Command } from 'commander';
import { realEffects } from '../../../kit/files/effects.ts';
import { describeUnreadableNote } from '../../../kit/files/note-file.ts';
import { ageText } from '../../../kit/time/age.ts';
import { dateOf } from '../../../kit/time/moment.ts';
import { headline } from '../../../kit/text/headline.ts';
import { readRecentRuns, type RecentRun } from '../../../pipeline/runs/recent-runs.ts';
import { addCommand, printAnswer, existingData, textTable, wholeNumber } from '../../answer.ts';
import type { CommandContext } from '../../context.ts';

interface RunsOptions {
  limit: number;
  failed?: boolean;
  json?: boolean;
}

export function addRunsCommand(program: Command, context: CommandContext): void {
  addCommand(program, 'runs', 'Lists the newest runs and their stages, also those that published nothing')
    .option('--limit <n>', 'runs at most', wholeNumber(1, 500), 20)
    .option('--failed', 'only runs that failed or were interrupted')
    .action((options: RunsOptions) => {
      const { logger } = context.terminal;
      const { runs } = readRecentRuns(existingData(), (note) => logger.warn(describeUnreadableNote(note)));
      const shown = runs
        .filter(({ status }) => options.failed !== true || status === 'failed' || status === 'interrupted')
        .slice(0, options.limit);
      printAnswer(context, options, { runs: shown }, textTable(shown.map((run) => rowOf(run, realEffects.now()))));
    });
}

/** `now` in milliseconds since the epoch. */
function rowOf(run: RecentRun, now: number): Record<string, string | number | null> {
  const stages = run.stages.map(
    ({ stage, started_at, finished_at, rows_out }) =>
      `${stage} ${secondsOf(started_at, finished_at)}${rows_out === null ? '' : ` (${rows_out} rows)`}`,
  );
  return {
    run: run.run_id,
    pipeline: run.pipeline,
    'as of': run.as_of,
    scheduled: run.scheduled_at,
    started: run.started_at.slice(0, 19),
    age: ageText((now - dateOf(run.started_at).getTime()) / 1000),
    took: secondsOf(run.started_at, run.finished_at),
    status: run.status,
    snapshot: run.snapshot_id,
    stages: stages.join(', '),
    error: run.error === null ? null : headline(run.error),
  };
}

function secondsOf(from: string, to: string | null): string {
  return to === null ? '-' : `${((dateOf(to).getTime() - dateOf(from).getTime()) / 1000).toFixed(1)} s`;
}
