/** What the generator makes, in the words of the canonical landing records. Money is decimal text. */
export interface GeneratedOffer {
  source: string;
  external_id: string;
  /** The public id that the record brings along; without one the pipeline assigns it. */
  id?: number;
  title: string | Record<string, string>;
  description: string | Record<string, string>;
  /** Gross, in `currency`. Absent for some multireward offers, which are worth the sum of their events. */
  payout?: string;
  currency: string;
  image?: string;
  level: string;
  stars: number;
  categories: string[];
  /** ISO 3166-1 alpha-2; empty means worldwide. */
  countries: string[];
  /** Empty means all. */
  devices: Device[];
  payment_term: 'net30' | 'net60';
  android_min_os?: string;
  ios_min_os?: string;
  destination_url: string;
  preview_url?: string;
  tracking_type: 'CPI' | 'CPE' | 'CPA' | 'CPL';
  report_category: 'app' | 'web' | 'survey' | 'game';
  formats: ('offerwall' | 'banners' | 'surveys' | 'PTC')[];
  daily_cap?: number;
  daily_click_cap?: number;
  multi_complete: boolean;
  status: 'active' | 'paused';
  created_at: string;
  updated_at: string;
  events?: { event_id: string; description: string; payout: string }[];
}

export type Device = 'android' | 'ios' | 'desktop';

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
  kind: 'credit' | 'reject' | 'chargeback';
  occurred_at: string;
  event_id?: string;
  /** Gross USD. */
  payout?: string;
  reason?: string;
}
