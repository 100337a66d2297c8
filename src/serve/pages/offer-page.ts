import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import pLimit from 'p-limit';
import type { SiteFeed } from '../offers/site-feed.ts';
import { byteText, bytesOf } from './offer-templates.ts';
import type { OfferTemplates } from './offer-templates.ts';
import { pageBody } from './prepared-page.ts';
import { tagOf } from '../../kit/http/entity-tag.ts';
import type { PageBody } from './prepared-page.ts';

/** A list of offers for one site, before it is rendered. */
export interface OfferPage {
  /** JSON up to the first offer. */
  head: string;
  /** By index among the snapshot's active offers. */
  offers: readonly number[];
  templates: OfferTemplates;
  feed: SiteFeed;
  /** Rest of each offer's link, percent-encoded. */
  link: string;
  /** The rank of the first offer, for templates that have ranks. */
  firstRank?: number;
  /** JSON after the last offer. */
  tail: string;
}

/** Offers rendered between two turns of the event loop: about a millisecond of work. */
const offersPerTurn = 250;

/** Several long pages at a time would each take as long as all together, and all their memory. */
const oneAtATime = pLimit(1);

/**
 * Renders a page and returns what `make` makes of it: a short page at once; a long one in turns, so that other requests
 * go on, and after the long pages asked for before. `known` returns what another request has made of it meanwhile.
 */
export function renderOnce<Made>(
  page: OfferPage,
  known: () => Made | undefined,
  make: (body: PageBody) => Made,
): Promise<Made> {
  const render = async () => {
    const body = await renderPage(page);
    return known() ?? make(body);
  };
  return page.offers.length <= offersPerTurn ? render() : oneAtATime(async () => known() ?? render());
}

/** Renders a page, some offers a turn of the event loop. Its tag is a digest of the body. */
export async function renderPage(page: OfferPage): Promise<PageBody> {
  const { head, offers, templates, feed, link, firstRank = 1, tail } = page;
  const values = { feed, prices: feed.shared.prices(), link };
  const parts: Buffer[] = [];
  let pieces = [byteText(head)];
  for (let ordinal = 0; ordinal < offers.length; ordinal++) {
    if (ordinal > 0 && ordinal % offersPerTurn === 0) {
      parts.push(bytesOf(pieces));
      pieces = [];
      await nextTurn();
    }
    if (ordinal > 0) pieces.push(',');
    templates.render(pieces, offers[ordinal] as number, values, firstRank + ordinal);
  }
  pieces.push(byteText(tail));
  const last = bytesOf(pieces);
  if (parts.length === 0) return pageBody(last);
  parts.push(last);
  const digest = createHash('sha256');
  for (const part of parts) {
    digest.update(part);
    await nextTurn();
  }
  return { bytes: Buffer.concat(parts), tag: tagOf(digest) };
}
