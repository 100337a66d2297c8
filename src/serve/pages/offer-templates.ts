import type { FeedOffer } from '../../feed/feed-document.ts';
import type { Links } from '../offers/links.ts';
import type { Prices } from '../offers/prices.ts';
import type { ServedOffer } from '../offers/served-offer.ts';
import type { SiteFeed } from '../offers/site-feed.ts';

/** What differs from site to site or page to page within an offer's JSON; a number: the payout of the milestone of that number. */
export type Slot = 'payout' | 'epc' | 'link' | 'updatedAt' | 'rank' | number;

/** JSON text, or where something of the site or the page stands. */
export type TemplatePart = string | { readonly slot: Slot };

/** One way of writing an offer. What is the same for all sites is kept as text, the rest is filled in for each. */
export interface Template {
  /** Unique among the templates. */
  readonly name: string;
  compile(offer: FeedOffer, links: Links): TemplatePart[];
}

/** What fills the slots of a page's offers. */
export interface PageValues {
  feed: SiteFeed;
  prices: Prices;
  /** What each offer's link goes on with: percent-encoded. */
  link: string;
}

/** Texts and the slots between them: one text more than slots. */
interface CompiledOffer {
  texts: readonly string[];
  slots: readonly Slot[];
}

/** A snapshot's active offers by one template, each compiled once and then kept. */
export class OfferTemplates {
  readonly #template: Template;
  readonly #links: Links;
  readonly #offers: readonly ServedOffer[];
  readonly #read: (index: number) => FeedOffer;
  readonly #compiled: (CompiledOffer | undefined)[];

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
    this.#compiled[index] ??= compiled(this.#template.compile(offer, this.#links));
  }

  /** The JSON of the offer of an index for a site; `rank` is its place in a list of ranks. */
  render(index: number, values: PageValues, rank: number): string {
    const { texts, slots } = (this.#compiled[index] ??= compiled(
      this.#template.compile(this.#read(index), this.#links),
    ));
    let text = texts[0] as string;
    for (let number = 0; number < slots.length; number++)
      text += this.#valueOf(slots[number] as Slot, index, values, rank) + (texts[number + 1] as string);
    return text;
  }

  #valueOf(slot: Slot, index: number, { feed, prices, link }: PageValues, rank: number): string {
    if (slot === 'payout') return prices.payoutText(index);
    if (slot === 'link') return link;
    if (slot === 'epc') return prices.epcText(index);
    if (slot === 'rank') return String(rank);
    if (slot !== 'updatedAt') return prices.eventPayoutTexts(index)[slot] as string;
    // An offer also changes for a site when the site's commission does.
    const { updatedAt, updatedAtText } = this.#offers[index] as ServedOffer;
    return feed.commissionChangedAt > updatedAt ? feed.commissionChangedAtText : updatedAtText;
  }
}

function compiled(parts: readonly TemplatePart[]): CompiledOffer {
  const texts: string[] = [];
  const slots: Slot[] = [];
  let text = '';
  for (const part of parts) {
    if (typeof part === 'string') text += part;
    else {
      texts.push(flat(text));
      slots.push(part.slot);
      text = '';
    }
  }
  return { texts: [...texts, flat(text)], slots };
}

/** The same text in one stretch of memory: V8 keeps what was added up as a tree, which every page would walk again. */
function flat(text: string): string {
  return Buffer.from(text).toString();
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
