import { canonicalOffer } from '../records/canonical-offer.ts';
import type { CanonicalRecord, Connector, SourceSettings } from './connector.ts';
import { plainText } from '../../kit/intake/mapping/html.ts';
import type { NetworkRecord } from '../records/record-fields.ts';

/** ayeT Studios, the static API: all offers of an ad slot on one page, in USD, with their number in `num_offers`. */
export const ayet: Connector = {
  name: 'ayet',
  baseUrl: 'https://www.ayetstudios.com',
  secrets: ['api_key', 'ad_slot'],
  offers: {
    isFull: true,
    path: '/offers/get/{ad_slot}',
    query: { apiKey: '{api_key}' },
    records: 'offers',
    paging: { kind: 'single', total: 'num_offers' },
    success: [{ at: 'status', is: ['success'] }],
    budget: { requests: 2, seconds: 60 },
    toCanonical: ayetOffer,
  },
};

function ayetOffer(record: NetworkRecord, source: SourceSettings): CanonicalRecord {
  const tasks = record.records('tasks').map((task) => ({
    event_id: task.text('uuid') ?? null,
    description: task.text('name') ?? null,
    payout: task.text('payout') ?? null,
  }));
  return {
    record: canonicalOffer({
      external_id: record.text('id'),
      title: record.text('name'),
      description: plainText(
        record.firstText('i18n.en.conversion_instructions_long', 'i18n.en.conversion_instructions_short'),
      ),
      // The tasks' payouts do not always add up to it.
      payout: record.text('payout_usd'),
      currency: source.currency ?? 'USD',
      events: tasks.length > 0 ? tasks : undefined,
      status: 'active',
      countries: record.texts('countries'),
      devices: record.texts('platforms'),
      categories: record.texts('tags.categories'),
      image: record.text('icon'),
      preview_url: record.text('landing_page'),
      destination_url: record.text('tracking_link'),
      daily_cap: record.cap('daily_cap'),
    }),
  };
}
