import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { programFile } from '../kit/files/package-files.ts';
import { exitCode, OfferlineError, type ExitCode } from '../kit/errors/errors.ts';
import type { Logger } from '../kit/logging/log.ts';
import { portOf } from '../kit/http/listening-address.ts';
import { isStopping } from './stop-signal.ts';

/** Message of a child command to the process that started it, once it listens. */
export interface ListeningChild {
  address: string;
  /** Link, for one use, into the console; the tracker has none. */
  link?: string | null;
}

/** Waits before a child that ended is started again, doubled each time. Milliseconds. */
const firstWait = 1000;
const maxWait = 60_000;
/** Milliseconds that a child has to end before it is killed; its next start recovers from the kill. */
const maxEnding = 20_000;

/** How a child is started, and a timer that keeps no process; a test has its own. */
export interface ChildEffects {
  spawn: (executable: string, words: string[], options: SpawnOptions) => ChildProcess;
  /** Returns what cancels it. */
  later: (milliseconds: number, work: () => void) => () => void;
}

const realChildEffects: ChildEffects = {
  spawn,
  later: (milliseconds, work) => {
    const timer = setTimeout(work, milliseconds).unref();
    return () => clearTimeout(timer);
  },
};

/** A command that listens in a child process of `start`: its work does not delay our answers. */
export interface ChildCommand extends ListeningChild {
  stop(): Promise<void>;
}

/**
 * Runs a command that listens as a process of its own, started again for as long as it is wanted, at the same address.
 * Throws where the first start fails; the child itself has logged why. `environment` is added to our own; `onAgain` is
 * called each time that it listens again.
 */
export async function startChildCommand(
  command: 'track' | 'console',
  logger: Logger,
  port: number | undefined,
  environment: NodeJS.ProcessEnv = {},
  onAgain: (listens: ListeningChild) => void = () => undefined,
  effects: ChildEffects = realChildEffects,
): Promise<ChildCommand> {
  const { child, listens } = launch(command, port, environment, effects);
  const first = await listens;
  const launchAgain = () => {
    const again = launch(command, portOf(first.address), environment, effects);
    again.listens.then(onAgain).catch(() => {});
    return again;
  };
  const keeper = new ChildKeeper(command, logger, child, launchAgain, effects);
  return { ...first, stop: () => keeper.stop() };
}

/** Starts a child again whenever it ends, after waits that grow until it listens. */
class ChildKeeper {
  readonly #command: string;
  readonly #logger: Logger;
  readonly #launch: () => LaunchedChild;
  readonly #effects: ChildEffects;
  /** Undefined while none could be started. */
  #child: ChildProcess | undefined;
  #isWanted = true;
  #wait = firstWait;
  #cancelStart: (() => void) | undefined;

  constructor(
    command: string,
    logger: Logger,
    child: ChildProcess,
    launchAgain: () => LaunchedChild,
    effects: ChildEffects,
  ) {
    this.#command = command;
    this.#logger = logger;
    this.#launch = launchAgain;
    this.#effects = effects;
    this.#watch(child);
  }

  #watch(child: ChildProcess): void {
    this.#child = child;
    child.once('exit', (code, signal) => this.#planStart({ code, signal }, 'has ended and is started again'));
    child.on('error', (error) => {
      // Of one that runs it is about a message or a signal. One that could not be spawned has no exit.
      if (child.pid === undefined) this.#refused(error);
    });
  }

  #refused({ message: reason }: Error): void {
    this.#child = undefined;
    this.#planStart({ reason }, 'could not be started; will retry');
  }

  #planStart(why: object, what: string): void {
    // A terminal's Ctrl-C reaches the child as well, which may end before this process asks it to.
    if (!this.#isWanted || isStopping()) return;
    const wait = this.#wait;
    this.#wait = Math.min(2 * wait, maxWait);
    this.#logger.error({ ...why, seconds: wait / 1000 }, `\`offerline ${this.#command}\` ${what}`);
    this.#cancelStart = this.#effects.later(wait, () => this.#startAgain());
  }

  #startAgain(): void {
    let launched: LaunchedChild;
    try {
      launched = this.#launch();
    } catch (error) {
      // Too many open files, or too little memory, may throw here.
      this.#refused(error as Error);
      return;
    }
    this.#watch(launched.child);
    // Where it does not listen the child logs why, and its end is seen by the watch.
    launched.listens.then(() => (this.#wait = firstWait)).catch(() => {});
  }

  /** Resolves once the child has ended. */
  async stop(): Promise<void> {
    this.#isWanted = false;
    this.#cancelStart?.();
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    const overdue = setTimeout(() => child.kill('SIGKILL'), maxEnding);
    await ended;
    clearTimeout(overdue);
  }
}

/** Called in the child: reports where it listens, and ends the child when its starter ends, however that comes. */
export function reportToStarter(listens: ListeningChild): void {
  if (process.send === undefined) return;
  process.send(listens);
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
}

/** Called in the child at its end: the channel would keep the process. */
export function disconnectFromStarter(): void {
  if (process.connected) process.disconnect();
}

interface LaunchedChild {
  child: ChildProcess;
  /** Resolves once it listens, and rejects where it ends before. */
  listens: Promise<ListeningChild>;
}

function launch(
  command: string,
  port: number | undefined,
  environment: NodeJS.ProcessEnv,
  effects: ChildEffects,
): LaunchedChild {
  const main = programFile('src/cli/main');
  const words = [command, ...(port === undefined ? [] : ['--port', String(port)])];
  // The channel closes when this process ends, however that comes.
  const child = effects.spawn(process.execPath, [...process.execArgv, main, ...words], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: { ...process.env, ...environment },
  });
  const { promise, resolve, reject } = Promise.withResolvers<ListeningChild>();
  child.once('message', (listens: ListeningChild) => resolve(listens));
  child.once('error', reject);
  child.once('exit', (code) => reject(new OfferlineError(`\`offerline ${command}\` did not start`, known(code))));
  return { child, listens: promise };
}

function known(code: number | null): ExitCode {
  return Object.values(exitCode).find((each) => each === code && each !== exitCode.done) ?? exitCode.failed;
}
