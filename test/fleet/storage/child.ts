import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { commandLine, nodeArguments } from '../../support/command-line.ts';

/** A process that goes on until somebody ends it, and what it has told so far, on both of its ways. */
export class Child implements AsyncDisposable {
  told = '';
  readonly process: ChildProcess;
  readonly ended: Promise<number | null>;
  #heard = Promise.withResolvers<'heard'>();

  /** `offerline` with these words. */
  static offerline(data: DataDirectory, words: readonly string[], environment: NodeJS.ProcessEnv = {}): Child {
    return new Child(commandLine, words, { OFFERLINE_DATA: data.root, ...environment });
  }

  constructor(file: string, words: readonly string[], environment: NodeJS.ProcessEnv = {}) {
    this.process = spawn(process.execPath, [...nodeArguments, file, ...words], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...environment },
    });
    this.ended = once(this.process, 'exit').then(([code]) => code as number | null);
    for (const stream of [this.process.stdout, this.process.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.told += text;
        this.#heard.resolve('heard');
        this.#heard = Promise.withResolvers();
      });
  }

  /** Waits until it has told this so many times; throws with all that it told where it ends before. */
  async tells(what: string | RegExp, times = 1): Promise<void> {
    await this.tellsSo(String(what), () => (this.told.match(new RegExp(what, 'g'))?.length ?? 0) >= times);
  }

  /** The same until `isSo` of what it has told. */
  async tellsSo(what: string, isSo: () => boolean): Promise<void> {
    while (!isSo())
      if ((await Promise.race([this.#heard.promise, this.ended])) !== 'heard' && !isSo())
        throw new Error(`it ended without telling ${what}:\n${this.told}`);
  }

  kill(signal: NodeJS.Signals): void {
    this.process.kill(signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.kill('SIGCONT');
    this.kill('SIGKILL');
    await this.ended;
  }
}
