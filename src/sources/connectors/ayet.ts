import { canonicalOffer } from '../records/canonical-offer.ts';
import type { CanonicalRecord, Connector, SourceSettings } from './connector.ts';
import { plainText } from '../../kit/intake/mapping/html.ts';
import type { NetworkRecord } from '../records/record-fields.ts';
import { trackingType } from '../records/tracking-type.ts';
import { targetDevicesByAll } from '../../kit/vocabulary/targeting.ts';

/** ayeT Studios, the static API: all offers of an ad slot on one page, in USD, with their number in `num_offers`. */
export const ayet: Connector = {
  name: 'ayet',
  baseUrl: 'https://www.ayetstudios.com',
  secrets: ['api_key', 'ad_slot'],
  offers: {
    isFull: true,
    clickId: { macro: '{external_identifier}' },
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
    description: task.title('name') ?? null,
    payout: task.text('payout') ?? null,
  }));
  // Systems, and kinds of devices: phone, tablet, pc, mac.
  const target = targetDevicesByAll([{ allowed: record.words('platforms') }, { allowed: record.words('devices') }]);
  const warnings = [...target.warnings, ...(record.records('state_targeting').length > 0 ? ['region_rules'] : [])];
  return {
    record: canonicalOffer({
      external_id: record.text('id'),
      title: record.title('name'),
      description: plainText(record.firstText(...descriptionPlaces)),
      // The tasks' payouts do not always add up to it.
      payout: record.text('payout_usd'),
      currency: source.currency ?? 'USD',
      events: tasks.length > 0 ? tasks : undefined,
      status: 'nothing' in target ? 'paused' : 'active',
      countries: record.words('countries'),
      devices: 'nothing' in target ? [] : target.values,
      android_min_os: record.text('min_android_version'),
      ios_min_os: record.text('min_ios_version'),
      categories: record.texts('tags.categories'),
      tracking_type: trackingType(record.text('conversion_type')),
      image: record.text('icon'),
      preview_url: record.text('landing_page'),
      destination_url: record.text('tracking_link'),
      daily_cap: record.cap('daily_cap'),
    }),
    warnings,
  };
}

/** Offers without `i18n` have their texts beside it. */
const descriptionPlaces = [
  'i18n.en.conversion_instructions_long',
  'i18n.en.conversion_instructions_short',
  'conversion_instructions_long',
  'conversion_instructions_short',
  'conversion_instructions',
  'description',
];
