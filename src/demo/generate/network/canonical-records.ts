import type { OfferContent } from '../../../kit/vocabulary/offer-fields.ts';
import type { ConversionKind, Device, OfferStatus } from '../../../kit/vocabulary/values.ts';

/**
 * The fields of an offer's content that a record has as the catalog keeps them; a record leaves out those that have no
 * value.
 */
type Described = Omit<OfferContent, 'titles' | 'descriptions' | 'payout' | 'image_name' | 'image_source'>;
type Optional = { [Name in keyof Described]?: NonNullable<Described[Name]> };

/** Records that the generator makes, in the words of the canonical landing records. Money is decimal text. */
export interface GeneratedOffer extends Optional {
  source: string;
  external_id: string;
  /** The public id that the record brings along; without one the pipeline assigns it. */
  id?: number;
  title: string | Record<string, string>;
  description: string | Record<string, string>;
  /** Gross, in `currency`. Absent for some multireward offers, which pay the sum of their events. */
  payout?: string;
  currency: string;
  image?: string;
  countries: string[];
  devices: Device[];
  status: OfferStatus;
  created_at: string;
  updated_at: string;
  events?: { event_id: string; description: string; payout: string }[];
}

/** Names its offer by `offer_id`, or by `source` and `external_id`. */
export interface GeneratedClick {
  click_id: string;
  offer_id?: number;
  source?: string;
  external_id?: string;
  site_key: string;
  user_id: string;
  clicked_at: string;
  country?: string;
  device?: Device;
  ip?: string;
  user_agent?: string;
  sub1?: string;
}

export interface GeneratedConversion {
  conversion_id: string;
  click_id: string;
  kind: ConversionKind;
  occurred_at: string;
  event_id?: string;
  /** Gross USD. */
  payout?: string;
  reason?: string;
}
