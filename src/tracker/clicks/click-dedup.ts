import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';

/** The same click again within so long is the first one. Milliseconds. */
const sameWithin = 5000;
/** More clicks than that in five seconds are a thousand million a day: the oldest are forgotten earlier. */
const maxKnown = 60_000;
/** Bounds all addresses together: a hostile link makes one several thousand characters long. */
const maxCharacters = 16 * 1024 * 1024;

/** Two clicks that agree in these are the same one. */
export interface ClickIdentity {
  siteKey: string;
  userId: string;
  offerId: number;
  address: string;
  userAgent: string;
}

/** The first of several clicks that are the same. */
export interface FirstClick {
  /** Milliseconds since the epoch. */
  at: number;
  /** The address that it leads to. */
  location: string;
  /** Settles when the click is recorded, or is not. */
  recorded: Promise<void>;
}

/** Clicks of the last five seconds, so that a double tap is one click. Kept in memory: a restart forgets them. */
export class ClickDedup {
  readonly #known = new LRUCache<string, FirstClick>({
    max: maxKnown,
    maxSize: maxCharacters,
    sizeCalculation: ({ location }) => location.length + 1,
  });

  /** The same click, where it came just now. */
  find(key: string, now: number): FirstClick | undefined {
    const first = this.#known.get(key);
    // One from ahead of now came before the clock was set back.
    return first !== undefined && first.at <= now && now - first.at < sameWithin ? first : undefined;
  }

  /** Keeps a click, unless it turns out that it could not be recorded. */
  add(key: string, { at, location, recorded }: FirstClick): void {
    // A copy: the text was put together from parts of the request, and would keep all of it in memory.
    const click = { at, location: Buffer.from(location).toString(), recorded };
    this.#known.set(key, click);
    click.recorded.catch(() => {
      if (this.#known.peek(key) === click) this.#known.delete(key);
    });
  }
}

/** Digest of what identifies a click. */
export function clickKey({ siteKey, userId, offerId, address, userAgent }: ClickIdentity): string {
  return hash('sha256', [siteKey, userId, offerId, address, userAgent].join('\n'), 'base64url');
}
