import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { freePort } from './free-port.ts';

/** The password of a Redis that nobody is to use yet. */
const notOpenYet = 'not-open-yet';

/**
 * A Redis of its own for a test: on loopback, in a folder of its own, everything written down before it is answered.
 */
export class RedisServer {
  readonly port: number;
  readonly #folder: string;
  readonly #password: string;
  #process: ChildProcess | undefined;

  private constructor(port: number, folder: string, password: string) {
    this.port = port;
    this.#folder = folder;
    this.#password = password;
  }

  /** Started, and gone when the running test ends. */
  static async forTest({ password = '' } = {}): Promise<RedisServer> {
    const server = new RedisServer(await freePort(), await mkdtemp(join(tmpdir(), 'offerline-redis-')), password);
    onTestFinished(async () => {
      await server.kill();
      await rm(server.#folder, { recursive: true, force: true });
    });
    await server.start();
    return server;
  }

  get address(): string {
    return `redis://${this.#password === '' ? '' : `:${encodeURIComponent(this.#password)}@`}127.0.0.1:${this.port}/0`;
  }

  /**
   * Returns when it answers. `forget`: with nothing of what it held; `first`: a command that it runs before any other.
   */
  async start({ forget = false, first }: { forget?: boolean; first?: string[] } = {}): Promise<void> {
    if (forget) await rm(join(this.#folder, 'appendonlydir'), { recursive: true, force: true });
    const options = {
      port: this.port,
      bind: '127.0.0.1',
      dir: this.#folder,
      save: '',
      appendonly: 'yes',
      // What is written outlives a kill. A disk that others keep busy would hold answers up for longer than requests
      // wait.
      appendfsync: 'no',
      requirepass: notOpenYet,
    };
    const words = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
    const child = spawn('redis-server', words, { stdio: ['ignore', 'pipe', 'inherit'] });
    this.#process = child;
    const missing = once(child, 'error').then(([error]) => {
      throw new Error('redis-server cannot be started: install it, on Debian with `apt-get install redis-server`', {
        cause: error,
      });
    });
    const ready = (async () => {
      for await (const chunk of child.stdout) if (String(chunk).includes('Ready to accept connections')) return;
      throw new Error('redis-server ended before it was ready');
    })();
    await Promise.race([ready, missing]);
    child.stdout.resume();
    if (first !== undefined) await this.#run([['AUTH', notOpenYet], first]);
    await this.#run([
      ['AUTH', notOpenYet],
      ['CONFIG', 'SET', 'requirepass', this.#password],
    ]);
  }

  /** SIGKILL; returns when it is gone. */
  async kill(): Promise<void> {
    const child = this.#process;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  }

  /** Stops answering, and goes on, without ending a connection. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#process?.kill(signal);
  }

  /** Runs one command on a connection of its own; returns the reply as it came. */
  command(...words: string[]): Promise<string> {
    return this.#run(this.#password === '' ? [words] : [['AUTH', this.#password], words]);
  }

  async #run(commands: string[][]): Promise<string> {
    const socket = createConnection(this.port, '127.0.0.1').setEncoding('utf8');
    try {
      let reply = '';
      for (const words of commands) {
        socket.write(
          `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`,
        );
        reply = String((await once(socket, 'data'))[0]);
      }
      return reply.trim();
    } finally {
      socket.destroy();
    }
  }
}
