import type { Command } from 'commander';
import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { findSnapshot } from '../../../analysis/kept-snapshots.ts';
import { DataDirectory } from '../../../config/data-directory.ts';
import { readSettings, type Settings } from '../../../config/settings.ts';
import { UsageError } from '../../../errors/errors.ts';
import { acquireServiceLock } from '../../../serve/service-lock.ts';
import type { Service } from '../../../serve/service.ts';
import { addCommand, answer, existingData, wholeNumber } from '../../answer.ts';
import { receiverPortVariable } from '../../../postbacks/http/example-route.ts';
import { fillWithDemo, receivePostbacks, whatToTry } from '../../demo.ts';
import type { CommandContext } from '../../context.ts';
import { leave, untilStopped } from '../../stop-signal.ts';
import { openSchedule } from './schedule.ts';

interface ServeOptions {
  port?: number;
  host?: string;
  demo?: boolean;
  snapshot?: string;
  json?: boolean;
}

interface ServeMode {
  /** With the schedule. */
  scheduled: boolean;
  /** For the processes of the schedule, beside ours. */
  environment?: NodeJS.ProcessEnv | undefined;
}

export function addServeCommands(program: Command, context: CommandContext): void {
  withAddress(addCommand(program, 'serve', 'the HTTP service, from the published snapshot; follows new ones by itself'))
    .option('--snapshot <id>', 'serve this kept snapshot, once it is found whole, and follow none')
    .action((options: ServeOptions) => serve(existingData(), options, context, { scheduled: false }));
  withAddress(addCommand(program, 'start', 'schedule and serve in one'))
    .option(
      '--demo',
      'fill the data directory with a demo network where there is none, and receive what is sent to its publishers',
    )
    .action(async (options: ServeOptions) => {
      const data = DataDirectory.fromEnvironment();
      if (options.demo && !existsSync(data.landing) && !existsSync(data.sitesFile)) await fillWithDemo(data, context);
      const existing = existingData();
      const receiver = options.demo ? await receivePostbacks(existing, context) : undefined;
      const environment = receiver === undefined ? {} : { [receiverPortVariable]: String(receiver.port) };
      try {
        await serve(existing, options, context, { scheduled: true, environment });
      } finally {
        // After the schedule, so that what its last pass sends is received.
        await receiver?.close();
      }
    });
}

function withAddress(command: Command): Command {
  return command
    .option(
      '--port <n>',
      'port to listen on, 0 for a free one (default: offerline.json, else 8080)',
      wholeNumber(0, 65535),
    )
    .option('--host <address>', 'address to listen on (default: offerline.json, else 127.0.0.1)');
}

/** Alone on the data directory, also where it serves one old snapshot: that counts requests, too. */
async function serve(
  data: DataDirectory,
  options: ServeOptions,
  context: CommandContext,
  { scheduled, environment }: ServeMode,
): Promise<void> {
  const settings = readSettings(data);
  const { logger } = context.console;
  const lock = await acquireServiceLock(data, {
    command: scheduled ? 'start' : 'serve',
    waitSeconds: settings.lock_wait_seconds,
    onWaiting: (message) => logger.info(message),
  });
  try {
    await serveAlone(data, settings, options, context, { scheduled, environment });
  } finally {
    // Last of all, so that whoever waits for it finds the schedule free, too.
    lock.release();
  }
}

async function serveAlone(
  data: DataDirectory,
  settings: Settings,
  options: ServeOptions,
  context: CommandContext,
  { scheduled, environment }: ServeMode,
): Promise<void> {
  const { logger } = context.console;
  const schedule = scheduled ? await openSchedule(data, settings, context, environment) : undefined;
  // Loaded here alone: no other command answers HTTP, and each would start later for it.
  const { createService } = await import('../../../serve/service.ts');
  const service: Service = await createService({
    data,
    settings,
    log: logger,
    snapshotId:
      options.snapshot === undefined ? undefined : basename((await findSnapshot(data, options.snapshot)).folder),
  });
  try {
    const address = await listen(service, options.host ?? settings.host, options.port ?? settings.port);
    logger.info({ address }, 'serving');
    const first = schedule?.caughtUp.then(() => service.poll());
    await Promise.race([first, untilStopped()]);
    answer(context, options, { address }, whatToTry(data, address));
    await untilStopped();
  } finally {
    logger.info('stopping: answers and the run under way are finished first');
    await leave(service.close(), schedule?.stop());
  }
}

async function listen(service: Service, host: string, port: number): Promise<string> {
  try {
    return await service.listen({ host, port });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE')
      throw new UsageError(
        `port ${port} of ${host} is in use: stop what listens there, or choose another with --port`,
        { cause: error },
      );
    if (code === 'EADDRNOTAVAIL' || code === 'EACCES')
      throw new UsageError(`${host}:${port} cannot be listened on (${code}): choose another with --host and --port`, {
        cause: error,
      });
    throw error;
  }
}
