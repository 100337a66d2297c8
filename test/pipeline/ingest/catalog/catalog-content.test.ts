import { hash } from 'node:crypto';
import { expect, it } from 'vitest';
import { digestsOf } from '../../../../src/pipeline/ingest/catalog/catalog-content.ts';
import { parseOfferRecord } from '../../../../src/pipeline/landing/catalog/offer-record.ts';
import type { CanonicalOffer } from '../../../../src/pipeline/landing/catalog/canonical-offer.ts';

const seenAt = '2026-01-01T00:00:00Z';

function offer(record: object, currencyRates: Record<string, string> = {}): CanonicalOffer {
  const reading = { currencyRates, textCells: false, wallClock: new Date(seenAt) };
  const read = parseOfferRecord(JSON.stringify({ external_id: 'x', title: 'Game', ...record }), reading);
  if ('reject' in read) throw new Error(read.reject);
  return read.offer;
}

it('an offer in USD has the digest of versions that kept no currency, so that it gets no new one', () => {
  const usd = offer({ payout: '1.5' });
  const { id: _id, external_id: _externalId, updated_at: _updatedAt, created_at: _createdAt, ...kept } = usd;
  const { destination_url, currency, currency_rate, ...before } = kept;
  expect([currency, currency_rate]).toEqual(['USD', '1']);
  const text = JSON.stringify({ ...before, created_at: seenAt, destination_url });
  expect(digestsOf(usd, seenAt).contentSha256).toBe(hash('sha256', text, 'hex'));
});

it('another currency or rate is another version, and nothing else to publishers', () => {
  const digests = [
    digestsOf(offer({ payout: '3' }), seenAt),
    digestsOf(offer({ payout: '2', currency: 'EUR' }, { EUR: '1.5' }), seenAt),
    digestsOf(offer({ payout: '1.5', currency: 'EUR' }, { EUR: '2' }), seenAt),
    digestsOf(offer({ payout: '2', currency: 'GBP' }, { GBP: '1.5' }), seenAt),
  ];
  expect(new Set(digests.map(({ contentSha256 }) => contentSha256)).size).toBe(4);
  expect(new Set(digests.map(({ publishedSha256 }) => publishedSha256)).size).toBe(1);
});
