import type { Command } from 'commander';
import type { ReportedRole } from '../../../pipeline/runs/storage-role.ts';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { basename } from 'node:path';
import { findSnapshot } from '../../../pipeline/analysis/kept-snapshots.ts';
import { DataDirectory } from '../../../kit/config/data-directory.ts';
import { realEffects } from '../../../kit/files/effects.ts';
import { readSettings, type Settings } from '../../../kit/config/settings.ts';
import { acquireServiceLock } from '../../../serve/service-lock.ts';
import type { Service } from '../../../serve/service.ts';
import { receiverPortVariable } from '../../../postbacks/http/example-route.ts';
import { trackerAddress } from '../../../tracker/tracker-address.ts';
import { UsageError } from '../../../kit/errors/errors.ts';
import { addCommand, printAnswer, existingData, wholeNumber } from '../../answer.ts';
import { followedStorage, openSharedLimits } from '../../compose.ts';
import type { CommandContext } from '../../context.ts';
import { startChildCommand, type ChildCommand, type ListeningChild } from '../../child-process.ts';
import { listen, withAddress } from '../../listen.ts';
import { leave, untilStopped } from '../../stop-signal.ts';
import { waysToBegin, whatToTry } from '../../what-to-try.ts';
import { openSchedule } from '../../schedule/open-schedule.ts';
import { openWhenWritable } from '../../schedule/deferred-schedule.ts';
import type { Schedule } from '../../schedule/schedule.ts';
import { ScheduleMetrics } from '../../schedule/schedule-metrics.ts';

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
  /** Variables of the schedule's processes, added to our own. */
  environment?: NodeJS.ProcessEnv | undefined;
  /** Secrets of a demo's sites, which are none. */
  publicSecrets?: ReadonlySet<string> | undefined;
  /** Children beside the service, ended after it. */
  tracker?: ChildCommand | undefined;
  console?: ChildCommand | undefined;
}

export function addServeCommands(program: Command, context: CommandContext): void {
  withAddress(
    addCommand(
      program,
      'serve',
      'Serves the publisher API from the published snapshot',
      'It follows new snapshots and changes of `sites.json` by itself. One service works on a data directory, whichever snapshot it serves: a second one waits for it and exits 3. Started on a full or read-only disk it serves what was published, and counts requests in memory.',
    ),
    defaultAddress,
  )
    .option('--snapshot <id>', 'serve this kept snapshot, once its files match its manifest, and follow none')
    .action((options: ServeOptions) => {
      const data = existingData();
      return alone(data, 'serve', context, (settings) => serve(data, settings, options, context, { scheduled: false }));
    });
  addCommand(
    program,
    'start',
    'Runs `schedule`, `serve`, `track` and `console` in one',
    'The tracker and the console are processes of their own, started again where they end. On a full or read-only disk the service goes on, the tracker answers 503, and the schedule waits.',
  )
    .option(
      '--port <n>',
      `port of the service; the console takes the next one, the tracker the one after; 0 is any free ones (default: those of offerline.json, else 8080, 8081 and 8082)`,
      wholeNumber(0, 65533),
    )
    .option('--host <address>', `address that the service listens on (default: ${defaultAddress.host})`)
    .option(
      '--demo',
      'fill an empty data directory with a demo network, and play its pulled networks, its users who click, its advertisers who report conversions and its publishers at names under .example; the default in the directory data/var, unless it has data of your own',
    )
    .action((options: ServeOptions) => start(options, context));
}

async function start(options: ServeOptions, context: CommandContext): Promise<void> {
  const named = DataDirectory.fromEnvironment();
  // The simulator and the generator are loaded for a demo alone.
  const demo = isDemo(named, options) ? await import('../../demo.ts') : undefined;
  if (demo === undefined) requireSites(named);
  else await mkdir(named.root, { recursive: true });
  const data = existingData();
  const { logger } = context.terminal;
  // Before all else: a second start would fill the same directory, find the ports of the networks taken, and lead the
  // pulls of the first one astray.
  await alone(data, 'start', context, async () => {
    const isNew = demo !== undefined && isEmpty(data);
    if (isNew) await demo.fillWithDemo(data, context);
    requireSites(data);
    const settings = readSettings(data);
    // What was begun ends also where the next cannot begin, the last begun first.
    await using begun = new AsyncDisposableStack();
    const networks = begun.use(await demo?.playNetworks(data, context));
    // It ends after the schedule, so that what its last pass sends is received.
    const receiver = begun.adopt(await demo?.receivePostbacks(data, context), (each) => each?.close());
    const environment = receiver === undefined ? {} : { [receiverPortVariable]: String(receiver.port) };
    const children: ChildCommand[] = [];
    begun.defer(async () => void (await Promise.all(children.map((child) => child.stop()))));
    const tracker = await startChildCommand('track', logger, portBeside(options, 2));
    children.push(tracker);
    // The link of before leads in nobody any more.
    const reportLink = ({ link }: ListeningChild) => {
      if (link && options.json !== true) context.print(`The console was started again: open ${link}\n`);
    };
    const console = await startChildCommand('console', logger, portBeside(options, 1), environment, reportLink);
    children.push(console);
    if (isNew) await demo.pullDemo(data, context);
    begun.adopt(demo?.playTraffic(data, context, tracker.address), (traffic) => traffic?.stop());
    await serve(data, settings, options, context, {
      scheduled: true,
      environment,
      publicSecrets: networks === undefined ? undefined : demo?.publicSecrets(),
      tracker,
      console,
    });
  });
}

function isEmpty(data: DataDirectory): boolean {
  return !existsSync(data.landing) && !existsSync(data.sitesFile);
}

/** The port of a child of `start`: 1 or 2 after the given one, any free one beside 0, else that of its settings. */
function portBeside({ port }: ServeOptions, offset: number): number | undefined {
  return port === undefined || port === 0 ? port : port + offset;
}

/** A directory that somebody named is theirs: no demo fills it unasked. */
function isDemo(data: DataDirectory, { demo }: ServeOptions): boolean {
  const isNamed = Boolean(process.env['OFFERLINE_DATA']);
  return demo === true || (!isNamed && (isEmpty(data) || existsSync(data.demo)));
}

/** Throws `UsageError` where no site could ask for anything, as in a directory that was named by mistake. */
function requireSites(data: DataDirectory): void {
  if (existsSync(data.sitesFile)) return;
  const demo = isEmpty(data)
    ? 'pass --demo for a demo network'
    : `pass --demo with another OFFERLINE_DATA for a demo network, since ${data.landing} is not the demo's`;
  throw new UsageError(`${data.sitesFile} does not exist: ${waysToBegin(demo)}`);
}

/** Defaults as the help shows them. */
const defaultAddress = { host: 'offerline.json, else 127.0.0.1', port: 'offerline.json, else 8080' };

/** Alone on the data directory, also where it serves one old snapshot: that counts requests, too. */
async function alone(
  data: DataDirectory,
  command: 'serve' | 'start',
  { terminal: { logger } }: CommandContext,
  work: (settings: Settings) => Promise<void>,
): Promise<void> {
  const settings = readSettings(data);
  const lock = await acquireServiceLock(
    data,
    { command, waitSeconds: settings.lock_wait_seconds, onWaiting: (message) => logger.info(message) },
    logger,
  );
  try {
    await work(settings);
  } finally {
    // Last of all, so that the next service finds the schedule free, too.
    lock.release();
  }
}

async function serve(
  data: DataDirectory,
  settings: Settings,
  options: ServeOptions,
  context: CommandContext,
  { scheduled, environment, publicSecrets, tracker, console }: ServeMode,
): Promise<void> {
  const { logger } = context.terminal;
  const isFollowing = options.snapshot === undefined && settings.storage?.follow === true;
  const machine = scheduled || isFollowing ? new ScheduleMetrics(data, settings, logger) : undefined;
  let schedule: Schedule | undefined;
  let following: { stop(): Promise<void> } | undefined;
  let service: Service | undefined;
  // What was begun ends also where the next cannot begin: its timers would keep the process, without a service.
  try {
    if (scheduled && machine)
      schedule = await openWhenWritable(() => openSchedule(data, settings, context, machine, environment), logger);
    if (isFollowing) following = await followed(data, settings, context, machine);
    // Loaded here alone: no other command answers HTTP, and each would start later for it.
    const { createService } = await import('../../../serve/service.ts');
    const created = await createService({
      data,
      settings,
      log: logger,
      openSharedLimits,
      moreMetrics: machine?.metrics,
      environment: { ...process.env, ...environment },
      trackerAddress: () => tracker?.address ?? trackerAddress(data, settings.tracker, {}),
      snapshotId:
        options.snapshot === undefined ? undefined : basename((await findSnapshot(data, options.snapshot)).folder),
    });
    service = created;
    const address = await listen(created, options.host ?? settings.host, options.port ?? settings.port, '');
    logger.info({ address }, 'serving');
    const first = schedule?.caughtUp.then(() => Promise.all([created.poll(), tracker && followNow(tracker)]));
    await Promise.race([first, untilStopped()]);
    const link = console?.link ?? undefined;
    printAnswer(
      context,
      options,
      { address, ...(console && { console: { address: console.address, link: console.link } }) },
      whatToTry(data, address, {
        news: isFollowing ? 'storage' : options.snapshot === undefined ? 'landing' : 'none',
        consoleLink: link,
        publicSecrets,
      }),
    );
    await untilStopped();
  } finally {
    logger.info('stopping: answers and the run under way are finished first');
    await leave(service?.close(), schedule?.stop(), following?.stop());
  }
}

/** Links that are shown lead somewhere at once: the tracker looks for new routes before it says whether it is ready. */
async function followNow({ address }: ChildCommand): Promise<void> {
  // A tracker that is being started again reads them anyway.
  await fetch(new URL('/readyz', address), { signal: AbortSignal.timeout(5000) }).catch(() => {});
}

/** The SDK is loaded where there is storage to follow, and nowhere else. */
async function followed(
  data: DataDirectory,
  { storage }: Settings,
  { terminal }: CommandContext,
  metrics: ScheduleMetrics | undefined,
) {
  if (storage?.follow !== true) return undefined;
  const { followStorage } = await followedStorage.load();
  const opening = { data, effects: realEffects, logger: terminal.logger };
  return followStorage(storage, opening, (role: ReportedRole) => metrics?.watchRole(role));
}
