import { pino } from 'pino';
import { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { readSettings } from '../../../src/kit/config/settings.ts';
import { createTracker } from '../../../src/tracker/tracker.ts';
import { acquireTrackerLock } from '../../../src/tracker/tracker-lock.ts';
import { samePoint, watchedEffects, type StepPoint } from '../lives/watched-effects.ts';

/** What the process is to do, as JSON in its first argument. */
export interface ChildTracker {
  root: string;
  /** Where its clock stood when the real one stood at `real`, and how much faster it goes. Milliseconds. */
  clock: { at: number; real: number; speed: number };
  /** Where the process kills itself; null where somebody else does. */
  killAt: StepPoint | null;
}

const { root, clock, killAt } = JSON.parse(process.argv[2] ?? '') as ChildTracker;
const data = new DataDirectory(root);
const { files } = watchedEffects(0, (point) => {
  if (killAt !== null && samePoint(point, killAt)) process.kill(process.pid, 'SIGKILL');
});
const now = () => Math.floor(clock.at + (Date.now() - clock.real) * clock.speed);
await acquireTrackerLock(data, { command: 'track', waitSeconds: 10, onWaiting: () => {} });
const tracker = await createTracker({
  data,
  settings: readSettings(data),
  log: pino({ level: 'error' }, process.stderr),
  effects: { now, files },
  repeat(task, milliseconds) {
    const timer = setInterval(task, milliseconds / clock.speed);
    return () => clearInterval(timer);
  },
});
process.once('SIGTERM', () => void tracker.close().then(() => process.exit(0)));
process.stdout.write(`${await tracker.listen({ host: '127.0.0.1', port: 0 })}\n`);
