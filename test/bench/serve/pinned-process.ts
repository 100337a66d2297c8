import { execFile, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** Servers and the client that loads them, so that neither takes the other's processor. */
export const serverCore = 0;
export const clientCore = 1;

/** Whether processes can be kept to a core of their own here. */
export function canPin(): boolean {
  return (
    availableParallelism() >= 2 &&
    spawnSync('taskset', ['-c', `${serverCore},${clientCore}`, process.execPath, '--version']).status === 0
  );
}

export interface ProcessOptions {
  /** Undefined where the machine does not allow it. */
  core: number | undefined;
  environment?: Record<string, string>;
  signal: AbortSignal;
}

/** A TypeScript program of the repository as a process of its own, kept to one core, that answers messages. */
export class PinnedProcess {
  readonly #child: ChildProcess;
  readonly #name: string;

  constructor(program: URL, words: readonly string[], { core, environment = {}, signal }: ProcessOptions) {
    signal.throwIfAborted();
    const endWithBench = new URL('./end-with-bench.ts', import.meta.url).href;
    const command = [process.execPath, '--import', endWithBench, fileURLToPath(program), ...words];
    const [executable = '', ...rest] = core === undefined ? command : ['taskset', '-c', String(core), ...command];
    this.#name = [fileURLToPath(program), ...words.slice(0, 5)].join(' ');
    // Logs are written, as they would be, but to nowhere: one line per request would fill the disk or wait for a
    // reader.
    this.#child = spawn(executable, rest, {
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'pipe', 'ignore', 'ipc'],
      signal,
    });
    this.#child.on('error', () => undefined);
  }

  /** Where it listens, once it does. */
  async address(): Promise<string> {
    return (await this.announced()).address;
  }

  /** What the program prints once it listens: a JSON document with its address. */
  async announced(): Promise<{ address: string } & Record<string, string>> {
    let printed = '';
    const output = this.#child.stdout as NodeJS.ReadableStream;
    output.setEncoding('utf8');
    for await (const part of output) {
      printed += String(part);
      if (/\}\s*$/.test(printed)) return JSON.parse(printed) as { address: string };
    }
    throw new Error(`${this.#name} ended before it listened; run it by hand to see why`);
  }

  /** The first message that the program sends by itself. To be awaited before it is asked anything. */
  firstMessage<Message>(): Promise<Message> {
    return this.#next<Message>();
  }

  /** Sends a message and returns the answer to it; one at a time. */
  async ask<Answer>(message: object | string): Promise<Answer> {
    return (await this.begin<Answer>(message)).answer;
  }

  /** The same, without waiting for the answer. */
  async begin<Answer>(message: object | string): Promise<{ answer: Promise<Answer> }> {
    const answer = this.#next<Answer>();
    this.tell(message);
    return { answer };
  }

  tell(message: object | string): void {
    this.#child.send(message, () => undefined);
  }

  /** Resident memory, now. */
  async residentBytes(): Promise<number> {
    const { stdout } = await promisify(execFile)('ps', ['-o', 'rss=', '-p', String(this.#child.pid)]);
    return Number(stdout) * 1024;
  }

  async stop(): Promise<void> {
    if (!this.#isRunning) return;
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await exited;
  }

  #next<Message>(): Promise<Message> {
    return new Promise((resolve, reject) => {
      const ended = () => reject(new Error(`${this.#name} ended while it was measured; run it by hand to see why`));
      if (!this.#isRunning) return ended();
      this.#child.once('exit', ended);
      this.#child.once('message', (received) => {
        this.#child.off('exit', ended);
        resolve(received as Message);
      });
    });
  }

  get #isRunning(): boolean {
    return this.#child.pid !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }
}
