import { setImmediate as nextTurn } from 'node:timers/promises';
import { entityTag } from './prepared-page.ts';
import type { PageBody } from './prepared-page.ts';
import { byteText } from './offer-texts.ts';
import type { OfferTexts } from './offer-texts.ts';
import type { ServedOffer } from './served-offer.ts';
import type { SiteFeed } from './site-feed.ts';

/** A list of offers for one site, before it is put together. */
export interface OfferPage {
  /** JSON up to the first offer. */
  head: string;
  offers: readonly ServedOffer[];
  texts: OfferTexts;
  feed: SiteFeed;
  /** What each offer's link goes on with: percent-encoded. */
  link: string;
  /** Further JSON of the offer at a place, its end included; nothing where the offers' texts are whole. */
  more?: (offer: ServedOffer, place: number) => string;
  /** JSON after the last offer. */
  tail: string;
}

/** So many offers are put together between two turns of the event loop: about a millisecond of work where all of them are new. */
const offersPerTurn = 250;

/** Puts a page together: at once where it is short, else bit by bit, so that other requests go on meanwhile. */
export function putTogether(page: OfferPage): PageBody | Promise<PageBody> {
  const work = written(page);
  const { done, value } = work.next();
  return done === true ? value : inTurns(work);
}

async function inTurns(work: Generator<undefined, PageBody, undefined>): Promise<PageBody> {
  for (;;) {
    await nextTurn();
    const { done, value } = work.next();
    if (done === true) return value;
  }
}

/**
 * The tag is a digest of everything that the page is made of, where digests stand for the offers and the site's terms
 * for what they make of the offers' money: as strong as a digest of the body, without reading that.
 */
function* written({ head, offers, texts, feed, link, more, tail }: OfferPage): Generator<undefined, PageBody, undefined> {
  const { form } = texts;
  const chunks: Buffer[] = [];
  let body = byteText(head);
  // None of the parts holds a line feed: JSON writes it otherwise, and digests have one length.
  let parts = `${form.name}\n${feed.terms}\n${head}\n${link}\n${tail}\n`;
  for (let place = 0; place < offers.length; place++) {
    if (place > 0) {
      if (place % offersPerTurn === 0) {
        chunks.push(Buffer.from(body, 'latin1'));
        body = '';
        yield;
      }
      body += ',';
    }
    const offer = offers[place] as ServedOffer;
    const { pieces, digest } = texts.of(offer);
    body += form.fill(pieces, offer, feed, link);
    parts += digest;
    if (more === undefined) continue;
    const rest = more(offer, place);
    body += byteText(rest);
    parts += `${rest}\n`;
  }
  const last = Buffer.from(body + byteText(tail), 'latin1');
  return { bytes: chunks.length === 0 ? last : Buffer.concat([...chunks, last]), tag: entityTag(parts) };
}
