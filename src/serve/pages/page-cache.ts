import { LRUCache } from 'lru-cache';
import type { PreparedPage } from './prepared-page.ts';
import type { PageWithoutLinks } from './page-without-links.ts';

export type CachedPage = PreparedPage | PageWithoutLinks;

/** Begins the keys of pages that stay for a time, whatever is published meanwhile. */
export const heldPrefix = 'held ';

/** Marker of a page that was asked for once. */
const askedOnce = { bytes: 0 };
/** A longer page is kept at once: several clients that take it slowly shall not have one each. */
const maxPassingBytes = 256 * 1024;

/** Some hundred sites with a handful of pages each, and the pages of large catalogs for Variant A, which have 4 MB. */
const maxCacheBytes = 192 * 1024 * 1024;

/**
 * All finished pages by key, bounded by the bytes they hold; the one unused for longest goes first. Keys name what the
 * page was made of, so a page is never wrong: one of an older snapshot is just not asked for again, and dropped soon.
 */
export class PageCache {
  readonly #pages: LRUCache<string, CachedPage | typeof askedOnce>;
  readonly maxBytes: number;

  constructor(maxBytes = maxCacheBytes) {
    this.maxBytes = maxBytes;
    this.#pages = new LRUCache({ maxSize: maxBytes, sizeCalculation: weigh });
  }

  get size(): number {
    return this.#pages.size;
  }

  get bytes(): number {
    return this.#pages.calculatedSize;
  }

  get(key: string): CachedPage | undefined {
    const page = this.#pages.get(key);
    return page === askedOnce ? undefined : (page as CachedPage | undefined);
  }

  /** Keeps a page, in place of an older one of its key. A page larger than the whole cache is not kept. */
  keep<Page extends CachedPage>(key: string, page: Page): Page {
    // What is set under its key once more is not weighed again.
    this.#pages.delete(key);
    this.#pages.set(key, page);
    return page;
  }

  /**
   * Keeps a short page the second time that it is asked for. The first time only its key is kept: most pages of odd
   * filters are never asked for again, and memory that stays is a quarter of what they cost.
   */
  keepAskedAgain<Page extends CachedPage>(key: string, page: Page): Page {
    if (page.bytes > maxPassingBytes || this.#pages.has(key)) return this.keep(key, page);
    this.#pages.set(key, askedOnce);
    return page;
  }

  /** A page has grown since it was kept. */
  weighAgain(key: string, page: CachedPage): void {
    if (this.#pages.peek(key) === page) this.keep(key, page);
  }

  /** Drops all pages that were made of a snapshot alone: another has taken its place. */
  dropAllButHeld(): void {
    // All of them first: the cache's own iterator follows links that a removal changes.
    const keys = Array.from(this.#pages.keys());
    for (const key of keys) if (!key.startsWith(heldPrefix)) this.#pages.delete(key);
  }
}

/** Bytes of page and key, and an allowance for the objects around them, so that tiny pages are not free. */
function weigh(page: { readonly bytes: number }, key: string): number {
  return page.bytes + key.length * 2 + 300;
}
