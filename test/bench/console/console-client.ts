import { setTimeout } from 'node:timers/promises';
import type { Server } from '../serve/stand.ts';

/** One page as its reader had it. */
export interface Asked {
  status: number;
  bytes: number;
  milliseconds: number;
}

/** Asks for pages as an operator who came by the one-time link, one after the other or at a rate. */
export class ConsoleClient {
  readonly #address: string;
  readonly #cookie: string;

  private constructor(address: string, cookie: string) {
    this.#address = address;
    this.#cookie = cookie;
  }

  static async enter({ address, link }: Server & { link: string }): Promise<ConsoleClient> {
    const entered = await fetch(link, { method: 'POST', headers: { origin: address }, redirect: 'manual' });
    const [cookie = ''] = (entered.headers.get('set-cookie') ?? '').split(';');
    if (entered.status !== 303 || cookie === '') throw new Error(`the console let nobody in: ${entered.status}`);
    return new ConsoleClient(address, cookie);
  }

  async ask(path: string): Promise<Asked> {
    const begun = performance.now();
    const answer = await fetch(this.#address + path, { headers: { cookie: this.#cookie }, redirect: 'manual' });
    const body = await answer.arrayBuffer();
    return { status: answer.status, bytes: body.byteLength, milliseconds: performance.now() - begun };
  }

  /** Asks at a steady rate until told to stop, whether or not earlier answers are there; returns what came. */
  async askSteadily(paths: readonly string[], perSecond: number, signal: AbortSignal): Promise<Asked[]> {
    const begun = performance.now();
    const answers: Promise<Asked>[] = [];
    for (let number = 0; !signal.aborted; number++) {
      answers.push(this.ask(paths[number % paths.length] as string));
      const wait = begun + ((number + 1) * 1000) / perSecond - performance.now();
      await setTimeout(Math.max(0, wait), undefined, { signal }).catch(() => undefined);
    }
    return Promise.all(answers);
  }
}
