import { pino } from 'pino';
import { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { readSettings } from '../../../src/kit/config/settings.ts';
import { createTracker } from '../../../src/tracker/tracker.ts';
import { acquireTrackerLock } from '../../../src/tracker/tracker-lock.ts';
import { samePoint, watchedEffects, type StepPoint } from '../lives/watched-effects.ts';

/** The task of the process, as JSON in its first argument. */
export interface ChildTracker {
  root: string;
  /** Its clock showed `at` when the real one showed `real`, and goes `speed` times as fast. Milliseconds. */
  clock: { at: number; real: number; speed: number };
  /** The step at which the process kills itself; null where another one kills it. */
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
