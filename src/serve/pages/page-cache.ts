import { LRUCache } from 'lru-cache';

/** Prepared pages by key, bounded by the bytes they hold; the one unused for longest goes first. */
export class PageCache<Page extends { readonly bytes: number }> {
  readonly #pages: LRUCache<string, Page>;

  constructor(mostBytes: number) {
    this.#pages = new LRUCache<string, Page>({ maxSize: mostBytes, sizeCalculation: weigh });
  }

  get bytes(): number {
    return this.#pages.calculatedSize;
  }

  get count(): number {
    return this.#pages.size;
  }

  get(key: string): Page | undefined {
    return this.#pages.get(key);
  }

  /** Keeps a page, in place of an older one of its key. A page larger than the whole cache is not kept. */
  keep(key: string, page: Page): void {
    this.#pages.set(key, page);
  }

  /** A page has grown since it was kept. */
  weighAgain(key: string): void {
    const page = this.#pages.peek(key);
    // What is kept under a key already is not weighed when it is kept once more.
    if (page === undefined || !this.#pages.delete(key)) return;
    this.keep(key, page);
  }
}

/** Bytes of page and key, and an allowance for the objects around them, so that tiny pages are not free. */
function weigh(page: { readonly bytes: number }, key: string): number {
  return page.bytes + key.length * 2 + 300;
}
