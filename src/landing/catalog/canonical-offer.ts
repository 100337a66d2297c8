import type { Moment } from '../../time/moment.ts';
import type { Device } from '../../vocabulary/devices.ts';

/** A text by language code, in the advertiser's order; a plain text counts as `en`. */
export type LocalizedText = Record<string, string>;

export const paymentTerms = ['net30', 'net60'] as const;
export const trackingTypes = ['CPI', 'CPE', 'CPA', 'CPL'] as const;
export const reportCategories = ['app', 'web', 'survey', 'game'] as const;
export const formats = ['offerwall', 'banners', 'surveys', 'PTC'] as const;
export const statuses = ['active', 'paused'] as const;

/** One offer of one source after normalisation: all that the warehouse keeps of a catalog record. */
export interface CanonicalOffer {
  external_id: string;
  /** The public id that the record itself brings, if any. */
  id: number | null;
  titles: LocalizedText;
  /** No language at all where the offer has no description. */
  descriptions: LocalizedText;
  /** Gross USD as shortest decimal text; of a multireward offer without its own, the sum of its events. */
  payout: string;
  image_name: string;
  /** The advertiser's address of the picture, or its bare file name; empty where the offer has none. */
  image_source: string;
  level: string;
  stars: number;
  categories: string[];
  /** ISO 3166-1 alpha-2, ascending; empty means worldwide. */
  countries: string[];
  /** Empty means all. */
  devices: Device[];
  payment_term: (typeof paymentTerms)[number];
  android_min_os: string | null;
  ios_min_os: string | null;
  /** Where the tracker sends the user; never published. */
  destination_url: string | null;
  preview_url: string | null;
  tracking_type: (typeof trackingTypes)[number];
  report_category: (typeof reportCategories)[number];
  formats: (typeof formats)[number][];
  daily_cap: number | null;
  daily_click_cap: number | null;
  multi_complete: boolean;
  status: (typeof statuses)[number];
  /** Milestones in the source's order; empty for a single-reward offer. */
  events: CanonicalOfferEvent[];
  /** The source's own dates, if it gives any. */
  created_at: Moment | null;
  updated_at: Moment | null;
}

export interface CanonicalOfferEvent {
  event_id: string;
  descriptions: LocalizedText;
  /** Gross USD as shortest decimal text. */
  payout: string;
}
