import { topConvertingHeld } from '../http/caching.ts';
import type { Gauge } from '../http/metrics.ts';
import { PageCache } from './page-cache.ts';
import type { PreparedPage } from './prepared-page.ts';

interface HeldPage {
  page: PreparedPage;
  /** Milliseconds since the epoch. */
  madeAt: number;
  readonly bytes: number;
}

const mostBytes = 64 * 1024 * 1024;

/**
 * Pages that stay the same for 300 seconds, also when a new snapshot is published meanwhile: whoever asks again
 * within that time sees the answer that was given first, with the snapshot named in its headers.
 */
export class HeldPages {
  readonly #pages = new PageCache<HeldPage>(mostBytes);

  /** The page held under a key at a moment (milliseconds since the epoch), if any. */
  get(key: string, now: number): PreparedPage | undefined {
    const held = this.#pages.get(key);
    // A clock that was set back must not prolong it.
    return held !== undefined && now >= held.madeAt && now - held.madeAt < topConvertingHeld ? held.page : undefined;
  }

  /** Holds a page from `now` on. */
  keep(key: string, now: number, page: PreparedPage): void {
    this.#pages.keep(key, {
      page,
      madeAt: now,
      get bytes() {
        return page.bytes;
      },
    });
  }

  get gauges(): Gauge[] {
    return [
      { name: 'offerline_held_pages', help: 'Top-converting pages that are held or were.', value: this.#pages.count },
      { name: 'offerline_held_page_bytes', help: 'Memory held by them.', value: this.#pages.bytes },
      {
        name: 'offerline_held_page_bytes_limit',
        help: 'Beyond so much, those unused for longest are dropped.',
        value: mostBytes,
      },
    ];
  }

  /** A page has grown since it was held. */
  weighAgain(key: string): void {
    this.#pages.weighAgain(key);
  }
}
