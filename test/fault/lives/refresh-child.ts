// oxlint-disable-next-line import/no-unassigned-import -- the composition root hands in what settings may ask for
import '../../../src/cli/compose.ts';
import { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { noProgress } from '../../../src/kit/logging/progress.ts';
import { pipelines, type PipelineName } from './pipelines.ts';
import { samePoint, watchedEffects, type StepPoint } from './watched-effects.ts';

/** What the process is to do, as JSON in its first argument. */
export interface ChildRefresh {
  pipeline: PipelineName;
  root: string;
  asOf: string;
  /** Milliseconds since the epoch. */
  wallClock: number;
  /** Where the process kills itself; null where somebody else does. */
  killAt: StepPoint | null;
}

const { pipeline, root, asOf, wallClock, killAt } = JSON.parse(process.argv[2] ?? '') as ChildRefresh;
const effects = watchedEffects(wallClock, (point) => {
  if (killAt !== null && samePoint(point, killAt)) process.kill(process.pid, 'SIGKILL');
});
const terminal = { logger: createLogger(process.stderr, 'error'), progress: noProgress };
process.stdout.write('begins\n');
await pipelines[pipeline]({ data: new DataDirectory(root), terminal, asOf }, effects);
