import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FeedOffers } from '../../../src/pipeline/feed/feed-offers.ts';

test('gives each line of the file as the offer that was written there, whatever its texts hold', () => {
  const title = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('', 'line\nfeed', 'separated\u2028by\u2029these', '漢字 🎁'),
  );
  fc.assert(
    fc.property(
      fc.array(fc.record({ id: fc.nat(), source: fc.constant('net'), titles: fc.record({ en: title }) }), {
        maxLength: 20,
      }),
      fc.boolean(),
      (offers, endsWithLineFeed) => {
        const text =
          offers.map((offer) => JSON.stringify(offer)).join('\n') + (endsWithLineFeed && offers.length > 0 ? '\n' : '');
        const feed = new FeedOffers(Buffer.from(text));
        expect(Array.from({ length: feed.count }, (_, place) => feed.at(place))).toEqual(offers);
      },
    ),
  );
});
