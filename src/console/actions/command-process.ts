import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { setTimeout as after } from 'node:timers/promises';
import { errorLine } from './log-lines.ts';

/** The command line of the CLI, as the schedule starts its runs. */
export interface Launcher {
  executable: string;
  /** Words before those of a command: options of Node, and the program. */
  words: readonly string[];
  /** Added to the environment of this process; names the data directory. */
  environment: NodeJS.ProcessEnv;
}

/** The end of a process: by itself with a code, or by a signal. */
export interface ProcessEnd {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** Time for a command to end after its current step; then it is killed, as by the schedule. */
const endingMilliseconds = 30_000;

/** Starts a command without a shell. */
export function startCommand(
  { executable, words, environment }: Launcher,
  own: readonly string[],
  stdio: StdioOptions,
): { child: ChildProcess; ended: Promise<ProcessEnd> } {
  const child = spawn(executable, [...words, ...own], { stdio, env: { ...process.env, ...environment } });
  const ended = new Promise<ProcessEnd>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
  return { child, ended };
}

/** Asks a process to end and waits for its end; kills it after the limit. */
export async function endCommand(child: ChildProcess | undefined, ended: Promise<unknown>): Promise<void> {
  child?.kill('SIGTERM');
  const waiting = new AbortController();
  const over = ended.then(
    () => undefined,
    () => undefined,
  );
  const tooLong = after(endingMilliseconds, undefined, { signal: waiting.signal }).then(
    () => void child?.kill('SIGKILL'),
    () => undefined,
  );
  await Promise.race([over, tooLong]);
  waiting.abort();
  await over;
}

/** The answer of a short command that the caller waits for. */
export interface CommandAnswer extends ProcessEnd {
  answer: string;
  /** The reason of its end, from its log. */
  error: string | null;
  isTooLong: boolean;
}

const maxAnswerBytes = 64 * 1024 * 1024;
const maxLogCharacters = 64 * 1024;

/** Runs a command to its end; kills it when the signal aborts or its time is over. */
export async function askCommand(
  launcher: Launcher,
  own: readonly string[],
  { stop, milliseconds }: { stop: AbortSignal; milliseconds: number },
): Promise<CommandAnswer> {
  stop.throwIfAborted();
  const { child, ended } = startCommand(launcher, own, ['ignore', 'pipe', 'pipe']);
  const parts: Buffer[] = [];
  let bytes = 0;
  let log = '';
  let isTooLong = false;
  const kill = () => void child.kill('SIGKILL');
  child.stdout?.on('data', (part: Buffer) => {
    if ((bytes += part.length) > maxAnswerBytes) kill();
    else parts.push(part);
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (log = (log + text).slice(-maxLogCharacters)));
  const timer = setTimeout(() => {
    isTooLong = true;
    kill();
  }, milliseconds);
  stop.addEventListener('abort', kill);
  try {
    const end = await ended;
    return { ...end, answer: Buffer.concat(parts).toString('utf8'), error: errorLine(log), isTooLong };
  } finally {
    clearTimeout(timer);
    stop.removeEventListener('abort', kill);
  }
}
