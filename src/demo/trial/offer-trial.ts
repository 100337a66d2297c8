import { setTimeout } from 'node:timers/promises';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import type { Settings } from '../../kit/config/settings.ts';
import { OfferlineError } from '../../kit/errors/errors.ts';
import type { TrackerAccess } from './tracker-access.ts';
import type { TrialStep } from './trial-report.ts';
import type { TrialSubject } from './trial-subject.ts';

export interface OfferTrial {
  data: DataDirectory;
  settings: Settings;
  subject: TrialSubject;
  tracker: TrackerAccess;
  userId: string;
  /** True where postbacks may go to a real publisher. */
  deliver: boolean;
  /** Schedule that runs: none, one by its moments, or one that refreshes as soon as logs have landed. */
  schedule: 'none' | 'by the clock' | 'watching';
  /** Runs a refresh to its end. Rejects where it failed. */
  refresh: () => Promise<void>;
  report: (step: TrialStep) => void;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** Milliseconds of the clock that waits go by: nobody sets it. */
  steady: () => number;
  /** Aborted where somebody does not want to wait: what was reported is taken back all the same. */
  stop: AbortSignal;
}

/** Milliseconds. */
const poll = 200;

/**
 * Waits until `find` gives something, and returns it. After `longest` milliseconds returns undefined, or throws where
 * `failure` names it.
 */
export async function until<Found>(
  { stop, steady }: Pick<OfferTrial, 'stop' | 'steady'>,
  longest: number,
  failure: string | undefined,
  find: () => Found | undefined | Promise<Found | undefined>,
): Promise<Found | undefined> {
  const begun = steady();
  for (;;) {
    if (stop.aborted) throw new OfferlineError('the test was stopped before its last step');
    const found = await find();
    if (found !== undefined) return found;
    if (steady() - begun > longest) {
      if (failure === undefined) return undefined;
      throw new OfferlineError(`${failure} within ${longest / 1000} seconds`);
    }
    await setTimeout(poll);
  }
}
