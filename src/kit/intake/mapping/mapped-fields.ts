import { landingFieldNames } from '../../vocabulary/offer-fields.ts';
import { conversionKinds, offerStatuses, type LandingKind } from '../../vocabulary/values.ts';

/** Fields that a mapping of a kind may have. */
export interface MappedFields {
  names: readonly string[];
  /** Fields, or choices of fields, without which landing rejects every record. */
  required: readonly (readonly string[])[];
  /** Fields that hold lists. */
  lists: readonly string[];
  /** Values of fields that landing rejects all others of. */
  words: Readonly<Record<string, readonly string[]>>;
}

/** Names of our fields, by the kind of records. */
export const mappedFields: Readonly<Record<LandingKind, MappedFields>> = {
  offers: {
    names: landingFieldNames,
    required: [['external_id'], ['title'], ['payout', 'events']],
    lists: ['countries', 'devices', 'categories', 'formats'],
    words: { status: offerStatuses },
  },
  clicks: {
    names: ['click_id', 'offer_id', 'source', 'external_id', 'site_key', 'user_id', 'clicked_at'].concat([
      'country',
      'device',
      'ip',
      'user_agent',
      'sub1',
      'sub2',
    ]),
    required: [['click_id'], ['offer_id', 'external_id'], ['site_key'], ['user_id'], ['clicked_at']],
    lists: [],
    words: {},
  },
  conversions: {
    names: ['conversion_id', 'click_id', 'kind', 'occurred_at', 'event_id', 'payout', 'reason'].concat(
      // Of rows of state: what became of the conversion, when, and which row is the newer one.
      ['status', 'changed_at', 'version', 'currency'],
    ),
    required: [['conversion_id'], ['click_id'], ['kind', 'status'], ['occurred_at']],
    lists: [],
    words: { kind: conversionKinds, status: conversionKinds },
  },
};
