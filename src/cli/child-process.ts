import { spawn, type ChildProcess } from 'node:child_process';
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
  const first = launch(command, port, environment);
  const listens = await first.listens;
  let child = first.child;
  let isWanted = true;
  let wait = firstWait;
  let timer: NodeJS.Timeout | undefined;
  const again = () => {
    const { listens: listening, child: next } = launch(command, portOf(listens.address), environment);
    child = next;
    watch();
    const listensAgain = (heard: ListeningChild) => {
      wait = firstWait;
      onAgain(heard);
    };
    // The child logs why it does not listen, and its end is handled below.
    listening.then(listensAgain).catch(() => {});
  };
  const watch = () =>
    child.once('exit', (code, signal) => {
      // A terminal's Ctrl-C reaches the child as well, which may end before this process asks it to.
      if (!isWanted || isStopping()) return;
      logger.error({ code, signal, seconds: wait / 1000 }, `\`offerline ${command}\` has ended and is started again`);
      timer = setTimeout(again, wait).unref();
      wait = Math.min(2 * wait, maxWait);
    });
  watch();
  return {
    ...listens,
    async stop() {
      isWanted = false;
      clearTimeout(timer);
      if (child.exitCode !== null || child.signalCode !== null) return;
      const { promise: ended, resolve } = Promise.withResolvers<void>();
      child.once('exit', () => resolve());
      child.kill('SIGTERM');
      const overdue = setTimeout(() => child.kill('SIGKILL'), maxEnding);
      await ended;
      clearTimeout(overdue);
    },
  };
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

/** Starts the child. `listens` resolves once it listens, and rejects where it ends before. */
function launch(
  command: string,
  port: number | undefined,
  environment: NodeJS.ProcessEnv,
): { child: ChildProcess; listens: Promise<ListeningChild> } {
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
