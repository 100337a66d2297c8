import { readFile } from 'node:fs/promises';
import type { FeedOffer } from './feed-document.ts';

const lineFeed = 0x0a;

/**
 * The offers of a published snapshot, which is trusted: its bytes were checked against the manifest. They are held as
 * the bytes of the file and read when they are asked for, since as objects they take several times the room, and the
 * garbage collector's time.
 */
export class FeedOffers {
  readonly #bytes: Buffer;
  /** Of each line, and where the last one ends. */
  readonly #starts: number[] = [0];

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    for (let end = bytes.indexOf(lineFeed); end !== -1; end = bytes.indexOf(lineFeed, end + 1))
      this.#starts.push(end + 1);
    if (this.#starts.at(-1) !== bytes.length) this.#starts.push(bytes.length);
  }

  static async read(file: string): Promise<FeedOffers> {
    return new FeedOffers(await readFile(file));
  }

  get count(): number {
    return this.#starts.length - 1;
  }

  /** Each with its line feed, by its offer, which it names first. */
  *lines(): Generator<[id: number, line: Buffer]> {
    for (let place = 0; place < this.count; place++) {
      const line = this.#bytes.subarray(this.#starts[place], this.#starts[place + 1]);
      yield [Number(/^\{"id":(\d+)/.exec(line.toString('latin1', 0, 20))?.[1]), line];
    }
  }

  /** In the order of the file. */
  at(place: number): FeedOffer {
    return JSON.parse(this.#bytes.toString('utf8', this.#starts[place], this.#starts[place + 1])) as FeedOffer;
  }
}
