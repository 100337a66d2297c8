import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { FeedOffer } from '../../../src/pipeline/feed/feed-document.ts';
import { linksOf } from '../../../src/serve/offers/links.ts';
import { percentEncoded } from '../../../src/kit/text/percent-encoded.ts';
import { serveOffer } from '../../../src/serve/offers/served-offer.ts';
import { renderPage } from '../../../src/serve/pages/offer-page.ts';
import { OfferTemplates } from '../../../src/serve/pages/offer-templates.ts';
import type { Template } from '../../../src/serve/pages/offer-templates.ts';
import type { SiteFeed } from '../../../src/serve/offers/site-feed.ts';
import { templateB } from '../../../src/serve/variant-b/offer-template.ts';
import { linkEndC, templateC } from '../../../src/serve/variant-c/offer-template.ts';
import { reportTemplate } from '../../../src/serve/variant-c/report-template.ts';
import { feedFor } from '../../support/feed-for.ts';
import { feedOffer } from '../../support/published-snapshot.ts';

const links = linksOf('https://go.example/"quoted"/', 'https://cdn.example//');
const terms = { commission: '0.1' };

/** The one offer of a page by a template. */
async function written(template: Template, offer: FeedOffer, feed: SiteFeed, link: string): Promise<any> {
  const templates = new OfferTemplates(template, links, [serveOffer(offer, 0, 0)], () => offer);
  const { bytes } = await renderPage({ head: '[', offers: [0], templates, feed, link, tail: ']' });
  return JSON.parse(bytes.toString())[0];
}

describe('an offer whose texts are anything at all', () => {
  const text = fc.string({ unit: 'binary' });
  const anyOffer = fc.record({
    title: text,
    description: text,
    level: text,
    category: text,
    milestones: fc.array(text, { maxLength: 3 }),
    siteKey: text,
  });

  test('is valid JSON in every form, and says the same in each', async () => {
    await fc.assert(
      fc.asyncProperty(anyOffer, async ({ title, description, level, category, milestones, siteKey }) => {
        const events = milestones.map((name, place) => ({
          event_id: String(place),
          descriptions: { en: name },
          payout: '1.5',
        }));
        const offer = feedOffer({
          id: 7,
          titles: { en: title },
          descriptions: { en: description },
          level,
          categories: [category],
          events,
        });
        const feed = feedFor(siteKey, [serveOffer(offer, 0, 0)], links, terms);
        const b = await written(templateB, offer, feed, feed.encodedKey);
        const c = await written(templateC, offer, feed, linkEndC(feed.encodedKey));
        const report = await written(reportTemplate, offer, feed, feed.encodedKey);
        for (const each of [b, c])
          expect(each).toMatchObject({ id: 7, title, description, level, categories: [category], payout: 0.9 });
        expect(report).toMatchObject({
          id: '7',
          name: title,
          description: { en: description },
          payout: 0.9,
          multiEvent: milestones.length > 1,
        });
        expect(b.events).toEqual(c.events);
        expect((b.events ?? []).map((event: any) => event.description)).toEqual(milestones);
        expect(report.events.map(({ action, payout }: any) => [action.en, payout])).toEqual(
          milestones.map((name) => [name, 1.35]),
        );
        expect(b.url).toBe(c.tracking_url);
        expect(report.url).toBe(b.url.replace('{user_id}', '[USER_ID]'));
      }),
    );
  });
});

test('amounts too large for an exact number are written exactly', async () => {
  const offer = feedOffer({
    id: 7,
    figures: { epc: '1399999998600.12345', cvr: '0', trend: 'stable', rank: null },
    events: [{ event_id: 'm', descriptions: {}, payout: '90071992547409.9999' }],
  });
  const served = serveOffer(offer, 0, 0);
  const feed = feedFor('s', [served], links);
  const { bytes } = await renderPage({
    head: '[',
    offers: [0],
    templates: new OfferTemplates(reportTemplate, links, [served], () => offer),
    feed,
    link: 's',
    tail: ']',
  });
  expect(bytes.toString()).toContain('"epc":1399999998600.1235,');
  expect(bytes.toString()).toContain('"payout":90071992547409.9999}');
});

test('the slashes at the end of a configured address are not doubled in links', async () => {
  const offer = feedOffer({ id: 7, image_name: 'a b.png' });
  const feed = feedFor('s', [serveOffer(offer, 0, 0)], links, terms);
  const served = await written(templateC, offer, feed, linkEndC(feed.encodedKey));
  expect(served.tracking_url).toBe('https://go.example/"quoted"/redirect/manual-offer/7/user/{user_id}/site/s');
  expect(served.image).toBe('https://cdn.example/asset/images/offers/a%20b.png');
});

test('keys are encoded down to the unreserved characters', () => {
  expect(percentEncoded("aZ09-._~ !'()*/?#é")).toBe('aZ09-._~%20%21%27%28%29%2A%2F%3F%23%C3%A9');
});
