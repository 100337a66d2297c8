import type { ServerResponse } from 'node:http';

/** Where Node keeps the head that it has made of an answer until it is sent. It is nowhere promised. */
const headKept = '_header';
type HeadKept = { [headKept]?: unknown };

/** What a header takes as it is. */
const plainAddress = /^[\x21-\x7e]+$/;

/**
 * Redirects that say the same but for their address. Node makes the head of the first one in each second, with the date
 * and what the connection is told; the others have a copy of it. To look at every name and value again would be a
 * twelfth of what a click costs. Where Node keeps no head that can be copied, it makes each of them.
 */
export class Redirects {
  readonly #headers: readonly string[];
  readonly #now: () => number;
  #second = Number.NaN;
  #beforeAddress = '';
  #afterAddress = '';

  /** `headers`: names and values of all redirects, one after the other. `now`: milliseconds since the epoch. */
  constructor(headers: readonly string[], now: () => number = Date.now) {
    this.#headers = headers;
    this.#now = now;
  }

  /** Ends the answer. Throws where the address is none that a header may hold. */
  send(response: ServerResponse, address: string): void {
    const second = Math.floor(this.#now() / 1000);
    // Others are told that their connection ends.
    const isUsual = response.shouldKeepAlive && plainAddress.test(address);
    if (isUsual && second === this.#second) {
      response.statusCode = 302;
      (response as HeadKept)[headKept] = this.#beforeAddress + address + this.#afterAddress;
    } else {
      response.writeHead(302, ['location', address, 'content-length', '0', ...this.#headers]);
      if (isUsual) this.#learn((response as HeadKept)[headKept], address, second);
    }
    response.end();
  }

  #learn(head: unknown, address: string, second: number): void {
    const [before, after, ...more] = typeof head === 'string' ? head.split(` ${address}\r\n`) : [];
    if (before === undefined || after === undefined || more.length > 0) return;
    this.#second = second;
    this.#beforeAddress = `${before} `;
    this.#afterAddress = `\r\n${after}`;
  }
}
