import type { Command } from 'commander';
import { existsSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import type { DataDirectory } from '../../../kit/config/data-directory.ts';
import { readSettings, type Settings } from '../../../kit/config/settings.ts';
import type { ProcessLock } from '../../../kit/files/process-lock.ts';
import type { Logger } from '../../../kit/logging/log.ts';
import type { StandbyServer } from '../../../tracker/server/standby-server.ts';
import { unnamedProxy } from '../../../tracker/server/unnamed-proxy.ts';
import { forgetTrackerAddress, recordTrackerAddress } from '../../../tracker/tracker-address.ts';
import { portOf } from '../../../kit/http/listening-address.ts';
import { acquireTrackerLock } from '../../../tracker/tracker-lock.ts';
import type { Tracker } from '../../../tracker/tracker.ts';
import { addCommand, printAnswer, existingData } from '../../answer.ts';
import type { CommandContext } from '../../context.ts';
import { disconnectFromStarter, reportToStarter } from '../../child-process.ts';
import { leave, stopSignal, untilStopped } from '../../stop-signal.ts';
import { listen, withAddress } from '../../listen.ts';
import { TrackerStandby } from '../../tracker-standby.ts';
import { addReplayCommand } from './replay.ts';
import { addTestCommand } from './track-test.ts';

interface TrackOptions {
  port?: number;
  host?: string;
  json?: boolean;
}

export function addTrackCommand(program: Command, context: CommandContext): void {
  const command = withAddress(
    addCommand(
      program,
      'track',
      'Runs the tracker: links lead to offers, advertisers report conversions',
      'Both are rows of its logs before they are answered; src/tracker/README.md has the checks. One tracker works on a data directory and its landing folder: a second one waits and exits 3; with storage, one of another machine is on standby until the first has ended.',
    ),
    { host: 'tracker.host of offerline.json, else 127.0.0.1', port: 'tracker.port of offerline.json, else 8082' },
  );
  addTestCommand(command, context);
  addReplayCommand(command, context);
  command.action(async (options: TrackOptions) => {
    const data = existingData();
    const settings = readSettings(data);
    const begun = await begin(data, settings, options, context);
    if (begun === undefined) return;
    try {
      // Others know the address of the standby, also one at any free port.
      const at = begun.standby === undefined ? options : { ...options, port: portOf(begun.standby) };
      await track(begun.tracker, data, settings, at, context);
    } finally {
      begun.lock.release();
    }
  });
}

/**
 * Acquires the tracker's lock and prepares the tracker. Until both are done it listens and refuses all, for as long as
 * it takes: where the disk takes nothing, and with storage while another machine's tracker has the shared landing
 * folder, or this machine has yet to take over keys and routes. Undefined where it is stopped meanwhile.
 */
async function begin(
  data: DataDirectory,
  settings: Settings,
  options: TrackOptions,
  { terminal: { logger } }: CommandContext,
): Promise<{ lock: ProcessLock; tracker: Tracker; standby: string | undefined } | undefined> {
  const stopped = stopSignal();
  const { host, port } = addressOf(settings, options);
  const listening = async (server: StandbyServer) => {
    const address = await listen(server, host, port, 'tracker.');
    reportToStarter({ address });
    return address;
  };
  const standby = new TrackerStandby({ listen: listening, logger, stopped });
  let lock: ProcessLock | undefined;
  try {
    lock = await standby.whenDiskTakes(() => acquireLock(data, settings, standby, logger));
    // Loaded here alone: no other command reads agents, and each would start later for it.
    const { createTracker } = await import('../../../tracker/tracker.ts');
    const tracker = await standby.whenDiskTakes(() => createTracker({ data, settings, log: logger }));
    return { lock, tracker, standby: standby.address };
  } catch (error) {
    lock?.release();
    standby.throwIfFailed();
    if (!stopped.aborted) throw error;
    await leave();
    disconnectFromStarter();
    return undefined;
  } finally {
    await standby.close();
  }
}

async function acquireLock(
  data: DataDirectory,
  { storage, lock_wait_seconds: waitSeconds }: Settings,
  standby: TrackerStandby,
  logger: Logger,
): Promise<ProcessLock> {
  const { signal } = standby;
  const own = { command: 'track', waitSeconds, signal, onWaiting: (message: string) => logger.info(message) };
  if (storage === undefined || storage.follow) return acquireTrackerLock(data, own);
  const reason = 'another tracker works on this landing folder';
  const lock = await acquireTrackerLock(data, own, {
    ...own,
    waitSeconds: Infinity,
    onWaiting: (message) =>
      standby.begin(reason, `${message} This one is on standby: it answers 503, and tracks once that has ended.`),
  });
  try {
    while (isWithoutPast(data)) {
      standby.begin(
        'nothing was published or taken over yet',
        'this tracker is on standby: it answers 503, and tracks once a run has published or taken over',
      );
      await setTimeout(pastMilliseconds, undefined, { signal });
    }
    return lock;
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** Time between two looks for keys and routes. */
const pastMilliseconds = 500;

/**
 * True before this machine has keys of click ids or routes. A tracker that began now would make a key of its own, and
 * know none of the clicks of the machine before when their key comes from storage.
 */
function isWithoutPast(data: DataDirectory): boolean {
  return !existsSync(data.clickKeysFile) && !existsSync(data.currentRoutes);
}

function addressOf({ tracker: { host, port } }: Settings, options: TrackOptions): { host: string; port: number } {
  return { host: options.host ?? host, port: options.port ?? port };
}

async function track(
  tracker: Tracker,
  data: DataDirectory,
  settings: Settings,
  options: TrackOptions,
  context: CommandContext,
): Promise<void> {
  const { logger } = context.terminal;
  const warning = unnamedProxy(settings);
  if (warning !== undefined) logger.warn(warning);
  let isTracking = false;
  try {
    const { host, port } = addressOf(settings, options);
    const address = await listen(tracker, host, port, 'tracker.');
    isTracking = true;
    logger.info({ address }, 'tracking');
    await recordTrackerAddress(data, address, logger);
    // Before the answer, whose reader may ask for the end at once.
    const stopped = untilStopped();
    reportToStarter({ address });
    printAnswer(context, options, { address }, `offerline tracks at ${address}. Ctrl-C stops.`);
    await stopped;
  } finally {
    if (isTracking) {
      logger.info('stopping: answers under way are finished first, then the logs go to landing');
      forgetTrackerAddress(data, logger);
    }
    await leave(tracker.close());
    disconnectFromStarter();
  }
}
