import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { feedOfferSchema, feedOffersFile, type FeedOffer } from '../../../src/pipeline/feed/feed-document.ts';
import { changeState } from '../../support/change-state.ts';
import { PipelineUnderTest } from '../../support/pipeline-under-test.ts';
import { slow } from '../../support/slow.ts';

const clock = new Date('2026-03-10T12:00:00Z');
const asOf = (hour: number) => `2026-03-09T${String(hour).padStart(2, '0')}:00:00Z`;

/** Lines of the published feed, each held to what JavaScript writes of the offer in it. */
function feedOf({ data }: PipelineUnderTest): FeedOffer[] {
  const lines = readFileSync(join(data.current, feedOffersFile), 'utf8').trimEnd().split('\n');
  return lines.map((line) => {
    const offer = feedOfferSchema.parse(JSON.parse(line));
    expect(line).toBe(JSON.stringify(offer));
    return offer;
  });
}

it('has every text, amount and moment as JSON of JavaScript has it', async () => {
  const texts = [
    'plain',
    '"quoted" \\ / <b>',
    'bell \u0007, unit \u001f, delete \u007f',
    'a\tb\nc\u2028d',
    '漢字 🎁',
    '\\u001F',
    '"payout":"1.50"',
  ];
  const payouts = ['0', '100', '0.000001', '1.50', '20.10', '999999999.999999', '10'];
  const dates = [
    '0001-01-01T00:00:00Z',
    '1969-12-31T23:59:59.5Z',
    '2026-01-01T00:00:00.000001Z',
    '2026-01-01T00:00:00.120Z',
  ];
  await using pipeline = await PipelineUnderTest.create(clock);
  await pipeline.landOffers(
    'net',
    texts.map((text, index) => ({
      external_id: `x${index}`,
      id: index + 1,
      title: { en: text, de: `${text}!` },
      description: text,
      payout: payouts[index],
      categories: [text],
      created_at: dates[index % dates.length],
      events: [{ event_id: text.slice(0, 5).replaceAll(/\p{Cc}/gu, ''), description: text, payout: payouts[index] }],
    })),
  );
  await pipeline.refresh(asOf(10));
  const offers = feedOf(pipeline);
  expect(offers.map(({ titles }) => titles['en'])).toEqual(texts);
  expect(offers.map(({ payout }) => payout)).toEqual(['0', '100', '0.000001', '1.5', '20.1', '999999999.999999', '10']);
  expect(offers.map(({ events }) => events[0]?.payout)).toEqual(offers.map(({ payout }) => payout));
  expect(offers.slice(0, 4).map(({ created_at }) => created_at)).toEqual([
    '0001-01-01T00:00:00Z',
    '1969-12-31T23:59:59.500000Z',
    '2026-01-01T00:00:00.000001Z',
    '2026-01-01T00:00:00.120000Z',
  ]);
});

it('has the figures, and what changed of an offer that the last feed has', slow, async () => {
  await using pipeline = await PipelineUnderTest.create(clock);
  const offers = [1, 2].map((id) => ({ external_id: `x${id}`, id, title: 'One', payout: '1' }));
  await pipeline.landOffers('net', offers);
  await pipeline.refresh(asOf(10));
  const [first, second] = feedOf(pipeline);
  await pipeline.landLog('clicks', 'ndjson', [
    { click_id: 'c', offer_id: 2, site_key: 's', user_id: 'u', clicked_at: asOf(9) },
  ]);
  await pipeline.landOffers('net', [...offers, { external_id: 'x0', title: 'New', payout: '3' }]);
  await pipeline.refresh(asOf(11));
  const [unchanged, clicked, added] = feedOf(pipeline);
  expect(unchanged).toEqual(first);
  expect(clicked).toEqual({ ...second, figures: { epc: '0', cvr: '0', trend: 'stable', rank: null } });
  expect(added).toMatchObject({ id: 1_000_001, payout: '3' });
});

it('is not published with a line that breaks its schema, also of an offer that the last feed has', slow, async () => {
  await using pipeline = await PipelineUnderTest.create(clock);
  await pipeline.landOffers('net', [{ external_id: 'x', id: 1, title: 'One', payout: '1' }]);
  await pipeline.refresh(asOf(10));
  const { current } = await pipeline.snapshots();
  await changeState(pipeline.data, 'UPDATE offer_versions SET stars = 9');
  await expect(pipeline.refresh(asOf(11))).rejects.toThrow('stars');
  expect((await pipeline.snapshots()).current).toBe(current);
});
