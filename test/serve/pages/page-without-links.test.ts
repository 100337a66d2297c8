import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { FeedOffer } from '../../../src/pipeline/feed/feed-document.ts';
import { wholeOf } from '../../../src/serve/http/response.ts';
import { linksOf } from '../../../src/serve/offers/links.ts';
import { percentEncoded } from '../../../src/kit/text/percent-encoded.ts';
import { renderPage } from '../../../src/serve/pages/offer-page.ts';
import { OfferTemplates } from '../../../src/serve/pages/offer-templates.ts';
import { serveOffer } from '../../../src/serve/offers/served-offer.ts';
import { linkPlaceholder, PageWithoutLinks } from '../../../src/serve/pages/page-without-links.ts';
import { linkEndC, templateC } from '../../../src/serve/variant-c/offer-template.ts';
import { feedFor } from '../../support/feed-for.ts';
import { feedOffer } from '../../support/published-snapshot.ts';
import { slow } from '../../support/slow.ts';

const links = linksOf('https://go.example', 'https://cdn.example');

/** A page of offers with these titles, whose links go on with this. */
async function page(titles: readonly string[], link: string) {
  const inFull = titles.map((title, place) => feedOffer({ id: place + 1, titles: { en: title } }));
  const offers = inFull.map((offer, index) => serveOffer(offer, index, index));
  const feed = feedFor('s', offers, links);
  const templates = new OfferTemplates(templateC, links, offers, (position) => inFull[position] as FeedOffer);
  return renderPage({
    head: '"offers":[',
    offers: offers.map(({ index }) => index),
    templates,
    feed,
    link,
    tail: ']}',
  });
}

test('filled in for a user it is the page made for that user, to the byte', slow, async () => {
  const text = fc.string({ unit: 'binary', maxLength: 50 });
  // Shorter than a piece, and longer than one.
  const title = fc.oneof(text, fc.constant('\0 x'.repeat(5_000)));
  await fc.assert(
    fc.asyncProperty(fc.array(title, { maxLength: 3 }), text, async (titles, user) => {
      const head = `${JSON.stringify({ user_id: user }).slice(0, -1)},`;
      const link = linkEndC('s', percentEncoded(user));
      const { bytes } = new PageWithoutLinks(await page(titles, linkPlaceholder)).linked(head, link);
      const expected = head + (await page(titles, link)).bytes.toString();
      expect(wholeOf(bytes).toString()).toBe(expected);
      expect(bytes.length).toBe(Buffer.byteLength(expected));
      const sent = 'pieces' in bytes ? Array.from(bytes.pieces(), (piece) => Buffer.from(piece)) : [bytes];
      expect(Buffer.concat(sent).toString()).toBe(expected);
    }),
    { numRuns: 100 },
  );
});

test('has a tag for each user and site, which is another where the page is', async () => {
  const tagOf = async (title: string, head: string, link: string) =>
    new PageWithoutLinks(await page([title], linkPlaceholder)).linked(head, link).tag;
  const tags = [
    await tagOf('a', '{', 'u/site/s'),
    await tagOf('a', '{ ', 'u/site/s'),
    await tagOf('a', '{', 'v/site/s'),
    await tagOf('b', '{', 'u/site/s'),
  ];
  expect(new Set(tags).size).toBe(4);
  expect(await tagOf('a', '{', 'u/site/s')).toBe(tags[0]);
});
