import { setImmediate as nextTurn } from 'node:timers/promises';
import pLimit from 'p-limit';
import { ByteWriter } from './byte-writer.ts';
import { entityTag } from './prepared-page.ts';
import type { PageBody } from './prepared-page.ts';
import type { OfferTexts } from './offer-templates.ts';
import type { SiteFeed } from '../offers/site-feed.ts';

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

/** Several long pages at a time would each take as long as all together, and all their memory. */
const oneAtATime = pLimit(1);

/**
 * Puts a page together: at once where it is short, else bit by bit, so that other requests go on meanwhile. Where it is
 * for one answer alone, a short page's bytes are lent until they are released.
 */
export function putTogether(page: OfferPage, forOneAnswer = false): PageBody | Promise<PageBody> {
  return isLong(page) ? inTurns(page) : atOnce(page, forOneAnswer);
}

/** Makes something of a page that is not known yet. A long one has its turn after those asked for before; it may be known by then. */
export function makeOf<Made>(
  page: OfferPage,
  known: () => Made | undefined,
  make: (body: PageBody) => Made,
  forOneAnswer = false,
): Made | Promise<Made> {
  return isLong(page) ? oneAtATime(async () => known() ?? make(await inTurns(page))) : make(atOnce(page, forOneAnswer));
}

function isLong({ offers }: OfferPage): boolean {
  return offers.length > offersPerTurn;
}

function atOnce(page: OfferPage, forOneAnswer: boolean): PageBody {
  const writers = takeWriters();
  write(page, writers).next();
  return forOneAnswer ? lent(writers) : owned(writers);
}

async function inTurns(page: OfferPage): Promise<PageBody> {
  const writers = takeWriters();
  const work = write(page, writers);
  while (work.next().done !== true) await nextTurn();
  return owned(writers);
}

function takeWriters(): Writers {
  return idle.pop() ?? { body: new ByteWriter(64 * 1024), parts: new ByteWriter(8 * 1024) };
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
function* write(
  { head, offers, texts, feed, link, more, tail }: OfferPage,
  { body, parts }: Writers,
): Generator<undefined, void, undefined> {
  const prices = feed.prices();
  // None of the parts holds a line feed: JSON writes it otherwise, and digests have one length.
  parts.text(`${texts.form.name}\n${feed.terms}\n${head}\n${link}\n${tail}\n`);
  body.text(head);
  for (let place = 0; place < offers.length; place++) {
    if (place > 0 && place % offersPerTurn === 0) yield;
    const position = offers[place] as number;
    texts.write(position, feed, prices, link, place === 0, body, parts);
    if (more === undefined) continue;
    const rest = more(position, place);
    body.text(rest);
    parts.text(`${rest}\n`);
  }
  body.text(tail);
}
