import type { Command } from 'commander';
import { mirrorPublishedPictures } from '../../../../pipelines/pictures.ts';
import { StoppedError } from '../../../kit/errors/errors.ts';
import { momentOfMilliseconds } from '../../../kit/time/moment.ts';
import { addCommand, printAnswer, existingData, fieldLines, textTable } from '../../answer.ts';
import type { CommandContext } from '../../context.ts';
import { stopSignal } from '../../stop-signal.ts';

/** Pictures that could not be had, as many as people read; programs get all. */
const shownFailing = 20;

export function addPicturesCommand(program: Command, context: CommandContext): void {
  addCommand(
    program,
    'pictures',
    'Mirrors the pictures of the published offers',
    'One pass, where `pictures` is true: it fetches what is new and asks again for what is older than a day. A picture that cannot be had is shown, and is no failure.',
  ).action(async (options: { json?: boolean }) => {
    const { terminal } = context;
    const stop = stopSignal(terminal.logger);
    const {
      problems,
      failing: all,
      ...counts
    } = await mirrorPublishedPictures({ data: existingData(), terminal, stop });
    const failing = all.map(({ next_at, ...picture }) => ({ ...picture, next_at: momentOfMilliseconds(next_at) }));
    const rest = failing.length > shownFailing ? [`${failing.length - shownFailing} more; --json has all`] : [];
    const shown = failing.slice(0, shownFailing).map(({ name, address, error, failures, next_at: next }) => ({
      name,
      address,
      error,
      failures,
      next,
    }));
    const failures = failing.length === 0 ? [] : ['', 'could not be had', textTable(shown), ...rest];
    printAnswer(context, options, { ...counts, problems, failing }, [fieldLines(counts), ...failures].join('\n'));
    if (stop.aborted) throw new StoppedError('asked to end: what was mirrored stays, the next pass goes on from there');
  });
}
