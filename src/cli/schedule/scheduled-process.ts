import { spawn, type ChildProcess } from 'node:child_process';
import type { ScheduledRun, StartRun } from './schedule-lane.ts';

/**
 * A run that was asked to end does so after its stage. One that takes longer is killed: that leaves a good state, too.
 */
const maxEndingMilliseconds = 30_000;

export interface ScheduledProcesses {
  start: StartRun;
  /** Asks every process to end after its step, and waits for that, but not for ever. */
  stop(): Promise<void>;
}

/**
 * Runs pipelines as processes of their own: one that dies takes nothing along, and computing never holds up the
 * service's answers. `words` gives the command line of a run; `environment` is added to our own.
 */
export function scheduledProcesses(
  executable: string,
  words: (run: ScheduledRun) => readonly string[],
  {
    environment = {},
    endingMilliseconds = maxEndingMilliseconds,
  }: { environment?: NodeJS.ProcessEnv; endingMilliseconds?: number | undefined } = {},
): ScheduledProcesses {
  const children = new Map<ChildProcess, ReturnType<StartRun>>();
  let stopped = false;
  return {
    start(run) {
      if (stopped) return Promise.resolve(null);
      // The answer is for people who run it by hand; its log belongs to ours.
      const child = spawn(executable, words(run), {
        stdio: ['ignore', 'ignore', 'inherit'],
        env: { ...process.env, ...environment },
      });
      const ended = new Promise<Awaited<ReturnType<StartRun>>>((resolve, reject) => {
        child.once('error', reject);
        child.once('exit', (code, signal) => resolve(code ?? signal));
      }).finally(() => children.delete(child));
      children.set(child, ended);
      return ended;
    },
    async stop() {
      stopped = true;
      await Promise.all(
        [...children].map(async ([child, ended]) => {
          child.kill('SIGTERM');
          const timer = setTimeout(() => child.kill('SIGKILL'), endingMilliseconds);
          await ended.catch(() => null);
          clearTimeout(timer);
        }),
      );
    },
  };
}
