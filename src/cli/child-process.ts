import { spawn, type ChildProcess } from 'node:child_process';
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
): Promise<ChildCommand> {
  const { child, listens } = launch(command, port, environment);
  const first = await listens;
  const launchAgain = () => {
    const again = launch(command, portOf(first.address), environment);
    again.listens.then(onAgain).catch(() => {});
    return again;
  };
  const keeper = new ChildKeeper(command, logger, child, launchAgain);
  return { ...first, stop: () => keeper.stop() };
}

/** Starts a child again whenever it ends, after waits that grow until it listens. */
class ChildKeeper {
  readonly #command: string;
  readonly #logger: Logger;
  readonly #launch: () => LaunchedChild;
  #child: ChildProcess;
  #isWanted = true;
  #wait = firstWait;
  #timer: NodeJS.Timeout | undefined;

  constructor(command: string, logger: Logger, child: ChildProcess, launchAgain: () => LaunchedChild) {
    this.#command = command;
    this.#logger = logger;
    this.#launch = launchAgain;
    this.#child = this.#watch(child);
  }

  #watch(child: ChildProcess): ChildProcess {
    return child.once('exit', (code, signal) => {
      // A terminal's Ctrl-C reaches the child as well, which may end before this process asks it to.
      if (!this.#isWanted || isStopping()) return;
      const seconds = this.#wait / 1000;
      this.#logger.error({ code, signal, seconds }, `\`offerline ${this.#command}\` has ended and is started again`);
      this.#timer = setTimeout(() => this.#startAgain(), this.#wait).unref();
      this.#wait = Math.min(2 * this.#wait, maxWait);
    });
  }

  #startAgain(): void {
    const { child, listens } = this.#launch();
    this.#child = this.#watch(child);
    // Where it does not listen the child logs why, and its end is seen by the watch.
    listens.then(() => (this.#wait = firstWait)).catch(() => {});
  }

  /** Resolves once the child has ended. */
  async stop(): Promise<void> {
    this.#isWanted = false;
    clearTimeout(this.#timer);
    const child = this.#child;
    if (child.exitCode !== null || child.signalCode !== null) return;
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

function launch(command: string, port: number | undefined, environment: NodeJS.ProcessEnv): LaunchedChild {
  const main = programFile('src/cli/main');
  const words = [command, ...(port === undefined ? [] : ['--port', String(port)])];
  // The channel closes when this process ends, however that comes.
  const child = spawn(process.execPath, [...process.execArgv, main, ...words], {
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
