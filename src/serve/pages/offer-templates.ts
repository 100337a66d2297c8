import type { FeedOffer } from '../../pipeline/feed/feed-document.ts';
import type { Links } from '../offers/links.ts';
import type { Prices } from '../offers/prices.ts';
import type { ServedOffer } from '../offers/served-offer.ts';
import type { SiteFeed } from '../offers/site-feed.ts';

/**
 * Part of an offer's JSON that differs from site to site or page to page; a number: the payout of the milestone of that
 * number.
 */
export type Slot = 'payout' | 'epc' | 'link' | 'updatedAt' | 'rank' | number;

/** JSON text, or a slot for something of the site or the page. */
export type TemplatePart = string | { readonly slot: Slot };

/**
 * Way of writing an offer. Parts that are the same for all sites are kept as text, the others are filled in for each.
 */
export interface Template {
  /** Unique among the templates. */
  readonly name: string;
  compile(offer: FeedOffer, links: Links): TemplatePart[];
}

/** Values that fill the slots of a page's offers. */
export interface PageValues {
  feed: SiteFeed;
  prices: Prices;
  /** Rest of each offer's link, percent-encoded. */
  link: string;
}

/**
 * An offer's text in one piece, as `byteText` has it, and where its slots stand in it. A page takes offers from all
 * over the catalog, and waiting for memory is most of its cost: so each is in as few places as can be.
 */
interface CompiledOffer {
  text: string;
  cuts: readonly number[];
  slots: readonly Slot[];
}

/** A snapshot's active offers by one template, each compiled once and then kept. */
export class OfferTemplates {
  readonly #template: Template;
  readonly #links: Links;
  readonly #offers: readonly ServedOffer[];
  readonly #read: (index: number) => FeedOffer;
  readonly #compiled: (CompiledOffer | undefined)[];
  /** Most offers have the same slots, which are kept once. */
  readonly #slots = new Map<string, readonly Slot[]>();

  /** `read`: an offer in full, by its index. */
  constructor(template: Template, links: Links, offers: readonly ServedOffer[], read: (index: number) => FeedOffer) {
    this.#template = template;
    this.#links = links;
    this.#offers = offers;
    this.#read = read;
    this.#compiled = Array.from({ length: offers.length });
  }

  /** Compiles an offer before anybody asks for it. */
  prepare(index: number, offer: FeedOffer): void {
    this.#compiled[index] ??= this.#compile(offer);
  }

  /**
   * Adds the JSON of the offer of an index for a site to the pieces of a page, as `byteText` has it; `rank` is its
   * place in a list of ranks.
   */
  render(pieces: string[], index: number, values: PageValues, rank: number): void {
    const { text, cuts, slots } = (this.#compiled[index] ??= this.#compile(this.#read(index)));
    let from = 0;
    for (let number = 0; number < slots.length; number++) {
      const to = cuts[number] as number;
      pieces.push(text.slice(from, to), this.#valueOf(slots[number] as Slot, index, values, rank));
      from = to;
    }
    pieces.push(text.slice(from));
  }

  #compile(offer: FeedOffer): CompiledOffer {
    const cuts: number[] = [];
    const own: Slot[] = [];
    let text = '';
    let bytes = 0;
    for (const part of this.#template.compile(offer, this.#links)) {
      if (typeof part === 'string') {
        text += part;
        bytes += Buffer.byteLength(part);
      } else {
        cuts.push(bytes);
        own.push(part.slot);
      }
    }
    const key = own.join();
    const slots = this.#slots.get(key) ?? own;
    this.#slots.set(key, slots);
    return { text: byteText(text), cuts, slots };
  }

  #valueOf(slot: Slot, index: number, { feed, prices, link }: PageValues, rank: number): string {
    if (slot === 'payout') return prices.payoutText(index);
    if (slot === 'link') return link;
    if (slot === 'epc') return prices.epcText(index);
    if (slot === 'rank') return String(rank);
    if (slot !== 'updatedAt') return prices.eventPayoutTexts(index)[slot] as string;
    // An offer also changes for a site when the site's terms for it do.
    return feed.shared.changedAtText(this.#offers[index] as ServedOffer);
  }
}

/**
 * The UTF-8 of a text with a character for each byte, as pages are added up of. One emoji would else make V8 keep the
 * whole page in two bytes a character, and turning that into UTF-8 took longer than all the rest of a new page: 80 µs
 * of 150 for 60 kB, against 10 for copying bytes.
 */
export function byteText(text: string): string {
  return Buffer.from(text).toString('latin1');
}

/** The bytes that such texts stand for. Joining many pieces at once takes half of what adding them one by one does. */
export function bytesOf(byteTexts: readonly string[]): Buffer {
  return Buffer.from(byteTexts.join(''), 'latin1');
}

/** An object's members as JSON text without the braces, to be put together with others. */
export function members(object: Record<string, unknown>): string {
  return JSON.stringify(object).slice(1, -1);
}

/** A list as JSON whose entries each have a payout between two texts; payouts are slots by the entries' numbers. */
export function listWithPayouts(entries: readonly { before: string; after: string }[]): TemplatePart[] {
  return [
    '[',
    ...entries.flatMap(({ before, after }, number) => [`${number === 0 ? '' : ','}${before}`, { slot: number }, after]),
    ']',
  ];
}
