import { z } from 'zod';

/** A text by language code, in the advertiser's order; a plain text counts as `en`. */
export type LocalizedText = Record<string, string>;
const localizedText = z.record(z.string(), z.string());

/** The text that is served where one language is asked for: English, else the first one. */
export function servedText(texts: LocalizedText): string {
  return texts['en'] ?? Object.values(texts)[0] ?? '';
}

/** A decimal as plain text, so that no digit passes through binary floating point. */
const decimal = z.string().regex(/^\d+(\.\d+)?$/);

/** RFC 3339 in UTC with up to 6 decimal places of a second, ending in `Z`. */
const timestamp = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z$/);

/**
 * One line of `feed-offers.ndjson`: all that any variant publishes of an offer, before what depends on the site
 * (its commission, its links). One line per offer that was ever in the catalog, by id ascending;
 * offers that are not `active` are there for `include_removed` only.
 */
export const feedOfferSchema = z.strictObject({
  id: z.int().min(1),
  status: z.enum(['active', 'paused', 'vanished']),
  titles: localizedText,
  descriptions: localizedText,
  /** Gross USD. */
  payout: decimal,
  /** Stable per content; empty where the offer has none. */
  image_name: z.string(),
  /** The advertiser's address of the picture, or its bare file name; empty where the offer has none. */
  image_source: z.string(),
  level: z.string(),
  stars: z.int().min(0).max(5),
  categories: z.array(z.string()),
  /** ISO 3166-1 alpha-2, ascending; empty means worldwide. */
  countries: z.array(z.string()),
  /** Empty means all. */
  devices: z.array(z.enum(['android', 'ios', 'desktop'])),
  payment_term: z.enum(['net30', 'net60']),
  android_min_os: z.string().nullable(),
  ios_min_os: z.string().nullable(),
  preview_url: z.string().nullable(),
  tracking_type: z.enum(['CPI', 'CPE', 'CPA', 'CPL']),
  report_category: z.enum(['app', 'web', 'survey', 'game']),
  formats: z.array(z.enum(['offerwall', 'banners', 'surveys', 'PTC'])),
  daily_cap: z.int().nullable(),
  daily_click_cap: z.int().nullable(),
  multi_complete: z.boolean(),
  /** Milestones; empty for a single-reward offer, never empty for a multireward one. Payouts are gross USD. */
  events: z.array(z.strictObject({ event_id: z.string(), descriptions: localizedText, payout: decimal })),
  created_at: timestamp,
  updated_at: timestamp,
  removed_at: timestamp.nullable(),
  /** From `offer_stats_2d`, gross; null where the offer has no row there. */
  figures: z
    .strictObject({
      epc: decimal,
      cvr: decimal,
      trend: z.enum(['up', 'down', 'stable']),
      rank: z.int().min(1).nullable(),
    })
    .nullable(),
});
export type FeedOffer = z.output<typeof feedOfferSchema>;

/** `feed-sites.json`: what a snapshot fixes of every site. No secret, status or limit: those are read live. */
export const feedSitesSchema = z.strictObject({
  as_of: timestamp,
  sites: z.array(
    z.strictObject({
      site_key: z.string(),
      /** Decimal text of a share from 0 to 1. */
      commission: decimal,
      /** As-of of the run that last saw the commission change; `null` while it never did. */
      commission_changed_at: timestamp.nullable(),
    }),
  ),
});
export type FeedSites = z.output<typeof feedSitesSchema>;

export const feedOffersFile = 'feed-offers.ndjson';
export const feedSitesFile = 'feed-sites.json';
