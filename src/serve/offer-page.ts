import { setImmediate as nextTurn } from 'node:timers/promises';
import { ByteWriter } from './byte-writer.ts';
import { entityTag } from './prepared-page.ts';
import type { PageBody } from './prepared-page.ts';
import type { OfferTexts } from './offer-texts.ts';
import type { SiteFeed } from './site-feed.ts';

/** A list of offers for one site, before it is put together. */
export interface OfferPage {
  /** JSON up to the first offer. */
  head: string;
  /** By position among the snapshot's active offers. */
  offers: readonly number[];
  texts: OfferTexts;
  feed: SiteFeed;
  /** What each offer's link goes on with: percent-encoded. */
  link: string;
  /** Further JSON of the offer at a place, its end included; nothing where the offers' texts are whole. */
  more?: (position: number, place: number) => string;
  /** JSON after the last offer. */
  tail: string;
}

/** So many offers are put together between two turns of the event loop: about a millisecond of work where all of them are new. */
const offersPerTurn = 250;

/** What a page is put together in: its body, and what its tag is a digest of. */
interface Writers {
  body: ByteWriter;
  parts: ByteWriter;
}

/** To be used again: clearing away what is written once costs more than writing it. */
const idle: Writers[] = [];
const mostIdle = 64;
/** Room that a page of many offers needed is not held. Bytes. */
const mostIdleRoom = 256 * 1024;

/**
 * Puts a page together: at once where it is short, else bit by bit, so that other requests go on meanwhile. Where it is
 * for one answer alone, a short page's bytes are lent until they are released.
 */
export function putTogether(page: OfferPage, forOneAnswer = false): PageBody | Promise<PageBody> {
  const writers = idle.pop() ?? { body: new ByteWriter(64 * 1024), parts: new ByteWriter(8 * 1024) };
  const work = write(page, writers);
  if (work.next().done !== true) return inTurns(work, writers);
  return forOneAnswer ? lent(writers) : owned(writers);
}

async function inTurns(work: Generator<undefined, void, undefined>, writers: Writers): Promise<PageBody> {
  do await nextTurn();
  while (work.next().done !== true);
  return owned(writers);
}

function owned(writers: Writers): PageBody {
  const body = { bytes: Buffer.from(writers.body.bytes), tag: entityTag(writers.parts.bytes) };
  giveBack(writers);
  return body;
}

function lent(writers: Writers): PageBody {
  return { bytes: writers.body.bytes, tag: entityTag(writers.parts.bytes), release: () => giveBack(writers) };
}

function giveBack({ body, parts }: Writers): void {
  if (idle.length >= mostIdle || body.room > mostIdleRoom) return;
  body.clear();
  parts.clear();
  idle.push({ body, parts });
}

/**
 * The tag is a digest of everything that the page is made of, where digests stand for the offers and the site's terms
 * for what they make of the offers' money: as strong as a digest of the body, without reading that.
 */
function* write({ head, offers, texts, feed, link, more, tail }: OfferPage, { body, parts }: Writers): Generator<undefined, void, undefined> {
  // None of the parts holds a line feed: JSON writes it otherwise, and digests have one length.
  parts.text(`${texts.form.name}\n${feed.terms}\n${head}\n${link}\n${tail}\n`);
  body.text(head);
  for (let place = 0; place < offers.length; place++) {
    if (place > 0 && place % offersPerTurn === 0) yield;
    const position = offers[place] as number;
    texts.write(position, feed, link, place === 0, body, parts);
    if (more === undefined) continue;
    const rest = more(position, place);
    body.text(rest);
    parts.text(`${rest}\n`);
  }
  body.text(tail);
}
