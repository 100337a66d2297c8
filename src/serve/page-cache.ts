import type { Answer } from './answer.ts';

/** Prepared pages by key, bounded by the bytes they hold; the one unused for longest goes first. */
export class PageCache {
  readonly #pages = new Map<string, Answer>();
  readonly #mostBytes: number;
  #bytes = 0;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get(key: string): Answer | undefined {
    const page = this.#pages.get(key);
    if (page !== undefined) {
      // A Map keeps the order of insertion: what was just used goes to the end.
      this.#pages.delete(key);
      this.#pages.set(key, page);
    }
    return page;
  }

  /** Keeps a page under a key that has none. A page larger than the whole cache is not kept. */
  keep(key: string, page: Answer): void {
    const bytes = weigh(key, page);
    if (bytes > this.#mostBytes) return;
    this.#pages.set(key, page);
    this.#bytes += bytes;
    for (const [oldestKey, oldest] of this.#pages) {
      if (this.#bytes <= this.#mostBytes) break;
      this.#pages.delete(oldestKey);
      this.#bytes -= weigh(oldestKey, oldest);
    }
  }
}

/** Bytes of body and key, and an allowance for the objects around them, so that tiny pages are not free. */
function weigh(key: string, page: Answer): number {
  return page.body.length + key.length * 2 + 300;
}
