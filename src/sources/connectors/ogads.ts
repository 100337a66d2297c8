import { canonicalOffer } from '../records/canonical-offer.ts';
import type { CanonicalRecord, Connector, SourceSettings } from './connector.ts';
import { plainText } from '../../kit/intake/mapping/html.ts';
import type { NetworkRecord } from '../records/record-fields.ts';

/**
 * OGAds answers for one visitor's address and browser, so never with all offers: its source is a `delta`, and an offer
 * that it no longer lists stays until an operator ends it.
 */
export const ogads: Connector = {
  name: 'ogads',
  baseUrl: 'https://unlockcontent.net',
  secrets: ['api_key', 'ip', 'user_agent'],
  offers: {
    isFull: false,
    clickId: { parameter: 'aff_sub' },
    path: '/api/v2',
    query: { ip: '{ip}', user_agent: '{user_agent}' },
    headers: { Authorization: 'Bearer {api_key}' },
    records: 'offers',
    success: [{ at: 'success', is: ['true', '1'] }],
    budget: { requests: 1, seconds: 5 },
    toCanonical: ogadsOffer,
  },
};

function ogadsOffer(record: NetworkRecord, source: SourceSettings): CanonicalRecord {
  return {
    record: canonicalOffer({
      external_id: record.text('offerid'),
      title: record.title('name_short', 'name'),
      description: plainText(record.text('adcopy')),
      payout: record.text('payout'),
      currency: source.currency ?? 'USD',
      status: 'active',
      countries: record.words('country'),
      devices: record.words('device'),
      image: record.text('picture'),
      destination_url: record.text('link'),
    }),
  };
}
