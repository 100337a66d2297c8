import { expect, onTestFinished, test } from 'vitest';
import { linksOf } from '../../../src/serve/offers/links.ts';
import { openSnapshot } from '../../../src/serve/snapshot/published-snapshot.ts';
import { siteSchema } from '../../../src/kit/sites/sites.ts';
import { feedOffer, temporaryData, writeSnapshot } from '../../support/published-snapshot.ts';

test('many commissions hold no more memory than is allowed, and each has its own prices', async () => {
  const { data, remove } = await temporaryData();
  onTestFinished(remove);
  const events = [{ event_id: 'm', descriptions: {}, payout: '2' }];
  const folder = await writeSnapshot(data, 'one', {
    offers: Array.from({ length: 1500 }, (_, place) => feedOffer({ id: place + 1, payout: '2', events })),
  });
  const snapshot = await openSnapshot(folder);
  const links = linksOf('https://go.example', 'https://cdn.example');
  const feeds = Array.from({ length: 1500 }, (_, place) =>
    snapshot.feedOf(
      siteSchema.parse({ site_key: `site ${place}`, site_secret: 'a-long-enough-secret', commission: place / 10_000 }),
      links,
    ),
  );

  for (const [place, feed] of feeds.entries()) {
    const prices = feed.shared.prices();
    expect([prices.payouts[1499], prices.epcText(1499)]).toEqual([20_000 - 2 * place, '0']);
  }

  const { commissions, bytes, maxBytes } = snapshot.keptPrices;
  expect(bytes).toBeLessThanOrEqual(maxBytes);
  expect(commissions).toBeGreaterThan(100);
  expect(commissions).toBeLessThan(1000);
  // The first ones are long gone.
  expect(feeds[1]?.shared.prices().eventPayoutTexts(1499)).toEqual(['1.9998']);
});
