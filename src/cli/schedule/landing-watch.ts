import { watch } from 'chokidar';
import { mkdirSync } from 'node:fs';
import { basename, sep } from 'node:path';
import type { Logger } from '../../kit/logging/log.ts';
import { isUnfinishedName } from '../../kit/vocabulary/landing-formats.ts';
import { addDays, dayOf, momentOfMilliseconds, type Day } from '../../kit/time/moment.ts';

/** A file that lands is seldom alone: a run waits until nothing has landed for this long … */
const quietMilliseconds = 200;
/** … but not longer than this after the first of them. */
const maxWaitMilliseconds = 1000;

export interface LandingWatch {
  stop(): Promise<void>;
}

/**
 * Calls `onLanded` when the file system reports new or changed files, once for those that come together. Some events
 * are missed (a network file system sends none, a system has a bound for watched folders): the schedule finds those
 * files at its next moment. `folders`: those of the landing folder that are watched; all where not given.
 */
export function watchLanding(
  landing: string,
  folders: readonly string[] | undefined,
  onLanded: () => void,
  logger: Logger,
): LandingWatch {
  const gathered = oncePerBurst(onLanded);
  let isLogged = false;
  const failed = (err: unknown) => {
    if (!isLogged)
      logger.warn(
        { err },
        `${landing} or a part of it cannot be watched: what lands there is found at the moments of the schedule. After ENOSPC raise fs.inotify.max_user_watches, and start the schedule again`,
      );
    isLogged = true;
  };
  try {
    // A folder that comes later would not be watched.
    mkdirSync(landing, { recursive: true });
  } catch (error) {
    failed(error);
  }
  const awaited = folders === undefined ? 'files have landed' : 'the tracker has handed over a log';
  const watcher = watch(landing, {
    ignoreInitial: true,
    ignored: (path) =>
      path !== landing && !isWatched(path, folders, addDays(dayOf(momentOfMilliseconds(Date.now())), -1)),
  })
    .on('add', gathered.happened)
    .on('change', gathered.happened)
    .once('ready', () => {
      if (!isLogged) logger.info(`watching landing: a refresh starts as soon as ${awaited}`);
    })
    .on('error', failed);
  return {
    async stop() {
      gathered.stop();
      await watcher.close();
    },
  };
}

/**
 * Returns true where something that a run takes in may come at a path. `folders`: as of `watchLanding`; nothing comes
 * to their days before `firstDay` any more, and to know all their files would take memory for each.
 */
export function isWatched(path: string, folders: readonly string[] | undefined, firstDay: Day): boolean {
  const mayCome = folders?.some(
    (folder) =>
      isWithin(folder, path) || (isWithin(path, folder) && !isBefore(path.slice(folder.length + 1), firstDay)),
  );
  return (mayCome ?? true) && !isUnfinishedName(basename(path));
}

function isBefore(path: string, firstDay: Day): boolean {
  const day = /^\d{4}-\d\d-\d\d(?![^/])/.exec(path)?.[0];
  return day !== undefined && day < firstDay;
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder + sep);
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
