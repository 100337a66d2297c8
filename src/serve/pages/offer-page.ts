import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import pLimit from 'p-limit';
import type { SiteFeed } from '../offers/site-feed.ts';
import type { OfferTemplates } from './offer-templates.ts';
import { tagOf } from './prepared-page.ts';
import type { PageBody } from './prepared-page.ts';

/** A list of offers for one site, before it is rendered. */
export interface OfferPage {
  /** JSON up to the first offer. */
  head: string;
  /** By index among the snapshot's active offers. */
  offers: readonly number[];
  templates: OfferTemplates;
  feed: SiteFeed;
  /** What each offer's link goes on with: percent-encoded. */
  link: string;
  /** The rank of the first offer, for templates that tell ranks. */
  firstRank?: number;
  /** JSON after the last offer. */
  tail: string;
}

/** So many offers are rendered between two turns of the event loop: about a millisecond of work. */
const offersPerTurn = 250;

/** Several long pages at a time would each take as long as all together, and all their memory. */
const oneAtATime = pLimit(1);

/**
 * Renders a page and makes something of it: a short one at once; a long one in turns, so that other requests go on
 * meanwhile, and after those asked for before. Where somebody else has made it by then, `known` tells.
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
export async function renderPage({
  head,
  offers,
  templates,
  feed,
  link,
  firstRank = 1,
  tail,
}: OfferPage): Promise<PageBody> {
  const values = { feed, prices: feed.prices(), link };
  const digest = createHash('sha256');
  const pieces: Buffer[] = [];
  let text = head;
  for (let ordinal = 0; ordinal < offers.length; ordinal++) {
    if (ordinal > 0 && ordinal % offersPerTurn === 0) {
      add(text);
      text = '';
      await nextTurn();
    }
    if (ordinal > 0) text += ',';
    text += templates.render(offers[ordinal] as number, values, firstRank + ordinal);
  }
  add(text + tail);
  return { bytes: pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces), tag: tagOf(digest) };

  function add(part: string): void {
    const piece = Buffer.from(part);
    digest.update(piece);
    pieces.push(piece);
  }
}
