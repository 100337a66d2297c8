import { spawn, type ChildProcess } from 'node:child_process';
import cron from 'node-cron';
import { UsageError } from '../src/errors/errors.ts';
import type { Settings } from '../src/config/settings.ts';
import type { Logger } from '../src/stage/log.ts';

export interface Schedule {
  /** Resolves when the run under way, if any, has ended; its exit code, null where none ran. */
  runNow(): Promise<number | null>;
  /** No further runs; waits for the one under way. */
  stop(): Promise<void>;
}

/**
 * Runs the refresh pipeline by the settings' cron expression (UTC), each run in a process of its own: a run that dies
 * takes nothing along, and computing never holds up the service's answers. A tick while a run is under way is left out,
 * since that run takes up what has arrived.
 */
export function startSchedule({ schedule }: Pick<Settings, 'schedule'>, command: { executable: string; arguments: string[] }, logger: Logger): Schedule {
  if (!cron.validate(schedule.refresh)) {
    throw new UsageError(`offerline.json: schedule.refresh "${schedule.refresh}" is no cron expression; write it like "*/5 * * * *"`);
  }
  let underWay: Promise<number | null> | undefined;
  const runNow = () => (underWay ??= runToItsEnd(command).then((code) => {
    if (code !== 0) logger.error({ exit_code: code }, 'a scheduled refresh failed; the last good snapshot goes on being served, the next tick tries again');
    return code;
  }).finally(() => (underWay = undefined)));
  const task = cron.schedule(schedule.refresh, () => {
    if (underWay === undefined) void runNow();
    else logger.info('the last refresh is still running; this tick is left out');
  }, { timezone: 'UTC' });
  return {
    runNow,
    async stop() {
      await task.stop();
      await underWay;
    },
  };
}

function runToItsEnd({ executable, arguments: words }: { executable: string; arguments: string[] }): Promise<number | null> {
  return new Promise((resolve, reject) => {
    // Its answer is for whoever calls it by hand; what it logs belongs to ours.
    const child: ChildProcess = spawn(executable, words, { stdio: ['ignore', 'ignore', 'inherit'] });
    child.once('error', reject);
    child.once('exit', (code) => resolve(code));
  });
}
