import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { FeedOffer } from '../../../src/pipeline/feed/feed-document.ts';
import { linksOf } from '../../../src/serve/offers/links.ts';
import { renderPage } from '../../../src/serve/pages/offer-page.ts';
import type { OfferPage } from '../../../src/serve/pages/offer-page.ts';
import { OfferTemplates } from '../../../src/serve/pages/offer-templates.ts';
import type { PageBody } from '../../../src/serve/pages/prepared-page.ts';
import { serveOffer } from '../../../src/serve/offers/served-offer.ts';
import { templateB, topConvertingTemplate } from '../../../src/serve/variant-b/offer-template.ts';
import { templateC } from '../../../src/serve/variant-c/offer-template.ts';
import { reportTemplate } from '../../../src/serve/variant-c/report-template.ts';
import { feedFor } from '../../support/feed-for.ts';
import { feedOffer } from '../../support/published-snapshot.ts';

const links = linksOf('https://go.example', 'https://cdn.example');

/** All that a page depends on, each from so few values that many pages are alike. */
const anyPage = fc.record({
  template: fc.constantFrom(templateC, templateB, topConvertingTemplate, reportTemplate),
  commission: fc.constantFrom('0', '0.1', '0.10', '0.00001'),
  commissionChangedAt: fc.constantFrom(null, '2026-11-03T00:00:00Z'),
  siteKey: fc.constantFrom('s', 't'),
  head: fc.constantFrom('[', '[ '),
  tail: fc.constantFrom(']', ' ]'),
  firstRank: fc.constantFrom(1, 2),
  offers: fc.array(
    fc.record({
      title: fc.constantFrom('a', 'é', '漢字 🎁'),
      payout: fc.constantFrom('1.00', '1.0001', '2'),
      milestone: fc.constantFrom(undefined, '1', '1.0'),
      updatedAt: fc.constantFrom('2026-11-02T00:00:00Z', '2026-11-04T00:00:00Z'),
      epc: fc.constantFrom('0.1', '0.2'),
    }),
    { maxLength: 2 },
  ),
});

function pageOf({
  template,
  commission,
  commissionChangedAt,
  siteKey,
  head,
  tail,
  firstRank,
  offers,
}: typeof anyPage extends fc.Arbitrary<infer Page> ? Page : never): OfferPage {
  const inFull = offers.map(({ title, payout, milestone, updatedAt, epc }, index) =>
    feedOffer({
      id: index + 1,
      titles: { en: title },
      payout,
      updated_at: updatedAt,
      figures: { epc, cvr: '0', trend: 'stable', rank: null },
      events: milestone === undefined ? [] : [{ event_id: 'm', descriptions: {}, payout: milestone }],
    }),
  );
  const served = inFull.map((offer, index) => serveOffer(offer, index, index));
  const feed = feedFor(siteKey, served, links, { commission, changedAt: commissionChangedAt });
  return {
    head,
    offers: served.map(({ index }) => index),
    templates: new OfferTemplates(template, links, served, (position) => inFull[position] as FeedOffer),
    feed,
    link: siteKey,
    tail,
    firstRank,
  };
}

test('pages of one tag are the same to the byte, whatever they were made of', async () => {
  const byTag = new Map<string, string>();
  await fc.assert(
    fc.asyncProperty(anyPage, async (description) => {
      const { bytes, tag } = await renderPage(pageOf(description));
      expect(
        (await renderPage(pageOf(description))).tag,
        'made again, as from another snapshot of the same content',
      ).toBe(tag);
      expect(bytes.toString()).toBe(byTag.get(tag) ?? bytes.toString());
      byTag.set(tag, bytes.toString());
    }),
    { numRuns: 1500 },
  );
  expect(byTag.size).toBeGreaterThan(300);
});

test('a long page lets other work go on, and is what it would be in one piece', async () => {
  const ids = Array.from({ length: 1100 }, (_value, index) => index + 1);
  const inFull = ids.map((id) => feedOffer({ id, titles: { en: `Offer ${id} – 漢字` } }));
  const offers = inFull.map((offer, index) => serveOffer(offer, index, index));
  const feed = feedFor('s', offers, links);
  let turns = 0;
  let finished = false;
  const count = () =>
    void setImmediate(() => {
      if (finished) return;
      turns++;
      count();
    });
  count();
  const body: PageBody = await renderPage({
    head: '[',
    offers: offers.map(({ index }) => index),
    templates: new OfferTemplates(templateC, links, offers, (position) => inFull[position] as FeedOffer),
    feed,
    link: 's',
    tail: ']',
  });
  finished = true;
  expect(turns).toBeGreaterThanOrEqual(4);
  expect(JSON.parse(body.bytes.toString())).toMatchObject(ids.map((id) => ({ id, title: `Offer ${id} – 漢字` })));
});
