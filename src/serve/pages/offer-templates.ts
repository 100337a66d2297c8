import { hash } from 'node:crypto';
import type { FeedOffer } from '../../feed/feed-document.ts';
import { ByteWriter } from './byte-writer.ts';
import type { Links } from '../offers/links.ts';
import type { OfferPart, Slot } from './offer-part.ts';
import type { Prices } from '../offers/prices.ts';
import type { ServedOffer } from '../offers/served-offer.ts';
import type { SiteFeed } from '../offers/site-feed.ts';

/** One way of writing an offer: what is the same for all sites is kept, the rest is filled in for each. */
export interface TextForm {
  /** Unique among the forms. */
  name: string;
  /** An offer's JSON, cut where something of the site comes in. */
  cut(offer: FeedOffer, links: Links): OfferPart[];
}

/** What comes after a stretch of text. Milestones count on from the last. */
const after = { end: 0, payout: 1, epc: 2, link: 3, updatedAt: 4, milestones: 5 } as const;

/** Of a digest: 132 bits in base64. Bytes. */
const digestLength = 22;

/**
 * A snapshot's active offers in one form, each cut once and then kept. A page takes offers from all over the catalog, and
 * waiting for memory is most of its cost: so all texts stand in one stretch of bytes, each right behind its digest, and
 * the places where they are cut in another.
 */
export class OfferTexts {
  readonly form: TextForm;
  readonly #links: Links;
  readonly #offers: readonly ServedOffer[];
  readonly #read: (position: number) => FeedOffer;
  /** Of each offer: its digest, a comma, its text. */
  readonly #bytes = new ByteWriter(64 * 1024);
  /** Of each offer: where its digest begins, then pairs of where a stretch of text ends and what comes after. */
  readonly #cuts: number[] = [];
  /** By position: where in the cuts an offer begins; -1 while it is not cut. */
  readonly #starts: Int32Array;

  /** `read`: an offer in full, by its position. */
  constructor(form: TextForm, links: Links, offers: readonly ServedOffer[], read: (position: number) => FeedOffer) {
    this.form = form;
    this.#links = links;
    this.#offers = offers;
    this.#read = read;
    this.#starts = new Int32Array(offers.length).fill(-1);
  }

  /**
   * Writes the offer at a position for a site, whose offers' links go on with `link` (ASCII), after a comma where it is
   * not the first. The offer's digest goes to `digests`: it stands for all of it that is the same for all sites.
   */
  write(
    position: number,
    { commissionChangedAt, commissionChangedAtText }: SiteFeed,
    prices: Prices,
    link: string,
    isFirst: boolean,
    to: ByteWriter,
    digests: ByteWriter,
  ): void {
    let start = this.#starts[position] as number;
    if (start === -1) start = this.#cut(position, this.#read(position));
    // Most commissions never did: their pages need not fetch the offers from all over the memory.
    const hasChanged = commissionChangedAt > Number.NEGATIVE_INFINITY;
    const cuts = this.#cuts;
    const bytes = this.#bytes;
    const digest = cuts[start] as number;
    digests.copy(bytes, digest, digest + digestLength);
    let from = digest + digestLength + (isFirst ? 1 : 0);
    for (let cut = start + 1; ; cut += 2) {
      const end = cuts[cut] as number;
      const what = cuts[cut + 1] as number;
      // Written in the text already; only a later change of the commission stands in its place.
      if (
        what === after.updatedAt &&
        !(hasChanged && commissionChangedAt > (this.#offers[position] as ServedOffer).updatedAt)
      )
        continue;
      to.copy(bytes, from, end);
      from = end;
      if (what === after.end) return;
      if (what === after.link) to.ascii(link);
      else if (what === after.payout) to.amount(prices.payouts[position] as number);
      else if (what === after.epc) to.amount(prices.epcs[position] as number | bigint);
      else if (what === after.updatedAt) {
        to.ascii(commissionChangedAtText);
        from += (this.#offers[position] as ServedOffer).updatedAtText.length;
      } else to.amount(prices.eventPayouts(position)[what - after.milestones] as number | bigint);
    }
  }

  /** Cuts an offer before anybody asks for it. */
  prepare(position: number, offer: FeedOffer): void {
    if (this.#starts[position] === -1) this.#cut(position, offer);
  }

  /** Returns where in the cuts the offer begins. */
  #cut(position: number, offer: FeedOffer): number {
    const parts = this.form.cut(offer, this.#links);
    const start = this.#cuts.length;
    this.#cuts.push(this.#bytes.length);
    this.#bytes.ascii(digestOf(this.#offers[position] as ServedOffer, parts));
    this.#bytes.ascii(',');
    for (const part of parts) {
      if ('text' in part) this.#bytes.text(part.text);
      else this.#cuts.push(this.#bytes.length, 'slot' in part ? codeOf(part.slot) : after.updatedAt);
      if ('updatedAt' in part) this.#bytes.ascii(part.updatedAt);
    }
    this.#cuts.push(this.#bytes.length, after.end);
    this.#starts[position] = start;
    return start;
  }
}

function codeOf(slot: Slot): number {
  return typeof slot === 'number' ? after.milestones + slot : after[slot];
}

function digestOf(
  { grossPayout, grossEventPayouts, grossEpc, updatedAtText }: ServedOffer,
  parts: readonly OfferPart[],
): string {
  const amounts = [grossPayout, ...grossEventPayouts, grossEpc].map(({ units, places }) => `${units}e${places}`);
  // JSON has no character 0 in it.
  const cuts = parts.map((part) => ('text' in part ? part.text : `\0${'slot' in part ? part.slot : 'updated_at'}\0`));
  return hash('sha256', [...cuts, ...amounts, updatedAtText].join('\0'), 'base64url').slice(0, digestLength);
}
