import { readFile } from 'node:fs/promises';
import type { FeedOffer } from './feed-document.ts';

const lineFeed = 0x0a;

/**
 * Offers of a published snapshot, which was checked against its manifest. Keeps the bytes of the file and parses an
 * offer when it is needed: as objects all would take several times the memory, and the garbage collector's time.
 */
export class FeedOffers {
  readonly #bytes: Buffer;
  /** Start of each line, and the end of the last one. */
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

  /** Lines with their line feeds, by the offer's id, which comes first in a line. */
  *lines(): Generator<[id: number, line: Buffer]> {
    for (let place = 0; place < this.count; place++) {
      const line = this.#bytes.subarray(this.#starts[place], this.#starts[place + 1]);
      yield [Number(/^\{"id":(\d+)/.exec(line.toString('latin1', 0, 20))?.[1]), line];
    }
  }

  /** Returns an offer by its place in the file. */
  at(place: number): FeedOffer {
    const offer = JSON.parse(this.#bytes.toString('utf8', this.#starts[place], this.#starts[place + 1])) as FeedOffer;
    // Snapshots of 0.2.0 lack it.
    offer.source ??= '';
    return offer;
  }
}
