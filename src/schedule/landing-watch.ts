import { watch } from 'chokidar';
import { basename } from 'node:path';
import type { Logger } from '../logging/log.ts';
import { isUnfinishedName } from '../landing/files/find-files.ts';

/** A file that lands is seldom alone: a run waits until nothing has landed for this long … */
const quietMilliseconds = 200;
/** … but not longer than this after the first of them. */
const maxWaitMilliseconds = 1000;

export interface LandingWatch {
  stop(): Promise<void>;
}

/**
 * Tells by the file system's own events that files have landed or changed, once for those that come together. It may
 * miss some (a network file system sends no events, a system has a bound for watched folders): the schedule's moments
 * find what it misses.
 */
export function watchLanding(landing: string, onLanded: () => void, logger: Logger): LandingWatch {
  const gathered = oncePerBurst(onLanded);
  let told = false;
  const watcher = watch(landing, {
    ignoreInitial: true,
    ignored: (path) => path !== landing && isUnfinishedName(basename(path)),
  })
    .on('add', gathered.happened)
    .on('change', gathered.happened)
    .once('ready', () => logger.info('watching landing: a refresh starts as soon as files have landed'))
    .on('error', (error) => {
      if (told) return;
      told = true;
      logger.warn({ err: error }, 'landing cannot be watched; runs start at the moments of the schedule only');
    });
  return {
    async stop() {
      gathered.stop();
      await watcher.close();
    },
  };
}

/** Calls `act` once for events that follow each other closely. */
export function oncePerBurst(act: () => void): { happened: () => void; stop: () => void } {
  let quiet: NodeJS.Timeout | undefined;
  let latest: NodeJS.Timeout | undefined;
  const stop = () => {
    clearTimeout(quiet);
    clearTimeout(latest);
    latest = undefined;
  };
  const over = () => {
    stop();
    act();
  };
  return {
    stop,
    happened() {
      clearTimeout(quiet);
      quiet = setTimeout(over, quietMilliseconds);
      latest ??= setTimeout(over, maxWaitMilliseconds);
    },
  };
}
