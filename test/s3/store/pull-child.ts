import { pullSources } from '../../../pipelines/pull.ts';
import { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { noProgress } from '../../../src/kit/logging/progress.ts';
import { samePoint, watchedEffects, type StepPoint } from '../../fault/lives/watched-effects.ts';
import { peakMemory } from '../../support/peak-memory.ts';

/** What the process is to do, as JSON in its first argument. */
export interface ChildPull {
  root: string;
  /** Where the process kills itself; null where somebody else does. */
  killAt: StepPoint | null;
}

/** What it prints at its end. */
export interface ChildPulled {
  pulled: Awaited<ReturnType<typeof pullSources>>;
  peakMegabytes: number;
}

const { root, killAt } = JSON.parse(process.argv[2] ?? '') as ChildPull;
const effects = watchedEffects(Date.now(), (point) => {
  if (killAt !== null && samePoint(point, killAt)) process.kill(process.pid, 'SIGKILL');
});
const terminal = { logger: createLogger(process.stderr, 'error'), progress: noProgress };
const pulled = await pullSources({ data: new DataDirectory(root), terminal }, effects);
const said: ChildPulled = { pulled, peakMegabytes: peakMemory() / 2 ** 20 };
process.stdout.write(JSON.stringify(said));
