import { hash } from 'node:crypto';
import type { Links } from './links.ts';
import type { ServedOffer } from './served-offer.ts';
import type { SiteFeed } from './site-feed.ts';

/** One way of writing an offer: what is the same for all sites is kept, the rest is filled in for each. */
export interface TextForm {
  /** Unique among the forms. */
  name: string;
  /** An offer's JSON, cut where something of the site comes in. */
  cut(offer: ServedOffer, links: Links): string[];
  /** Puts the pieces together for a site, whose offers' links go on with `link`. What it fills in is ASCII. */
  fill(pieces: readonly string[], offer: ServedOffer, feed: SiteFeed, link: string): string;
}

export interface KeptText {
  /** As byte texts. */
  pieces: readonly string[];
  /** Stands for the offer as far as it is the same for all sites: 132 bits. */
  digest: string;
}

/**
 * A text with each byte of its UTF-8 as one character. Such texts are put together, and written out as `latin1`, several
 * times as fast as those with characters of any size.
 */
export function byteText(text: string): string {
  return Buffer.from(text).toString('latin1');
}

/** A snapshot's offers in one form, each cut when it is first asked for and then kept. */
export class OfferTexts {
  readonly form: TextForm;
  readonly #links: Links;
  readonly #texts: (KeptText | undefined)[];

  /** The number of the snapshot's offers. */
  constructor(form: TextForm, links: Links, offers: number) {
    this.form = form;
    this.#links = links;
    this.#texts = Array.from({ length: offers });
  }

  of(offer: ServedOffer): KeptText {
    return (this.#texts[offer.index] ??= this.#cut(offer));
  }

  #cut(offer: ServedOffer): KeptText {
    const pieces = this.form.cut(offer, this.#links).map(byteText);
    const { grossPayout, grossEventPayouts, grossEpc, updatedAtText } = offer;
    const amounts = [grossPayout, ...grossEventPayouts, grossEpc].map(({ units, places }) => `${units}e${places}`);
    // JSON has no character 0 in it.
    const digest = hash('sha256', [...pieces, ...amounts, updatedAtText].join('\0'), 'base64url').slice(0, 22);
    return { pieces, digest };
  }
}
