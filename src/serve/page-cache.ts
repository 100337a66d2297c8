/** Prepared pages by key, bounded by the bytes they hold; the one unused for longest goes first. */
export class PageCache<Page extends { readonly bytes: number }> {
  readonly #pages = new Map<string, { page: Page; weight: number }>();
  readonly #mostBytes: number;
  #bytes = 0;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get(key: string): Page | undefined {
    const kept = this.#pages.get(key);
    if (kept === undefined) return undefined;
    // A Map keeps the order of insertion: what was just used goes to the end.
    this.#pages.delete(key);
    this.#pages.set(key, kept);
    return kept.page;
  }

  /** Keeps a page, in place of an older one of its key. A page larger than the whole cache is not kept. */
  keep(key: string, page: Page): void {
    this.#drop(key);
    const weight = weigh(key, page);
    if (weight > this.#mostBytes) return;
    this.#pages.set(key, { page, weight });
    this.#bytes += weight;
    this.#makeRoom();
  }

  /** A page has grown since it was kept. */
  weighAgain(key: string): void {
    const kept = this.#pages.get(key);
    if (kept === undefined) return;
    const weight = weigh(key, kept.page);
    this.#bytes += weight - kept.weight;
    kept.weight = weight;
    this.#makeRoom();
  }

  #makeRoom(): void {
    for (const key of this.#pages.keys()) {
      if (this.#bytes <= this.#mostBytes) break;
      this.#drop(key);
    }
  }

  #drop(key: string): void {
    const kept = this.#pages.get(key);
    if (kept === undefined) return;
    this.#pages.delete(key);
    this.#bytes -= kept.weight;
  }
}

/** Bytes of page and key, and an allowance for the objects around them, so that tiny pages are not free. */
function weigh(key: string, page: { readonly bytes: number }): number {
  return page.bytes + key.length * 2 + 300;
}
