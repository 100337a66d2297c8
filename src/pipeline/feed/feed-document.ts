import { z } from 'zod';
import { siteTermsSchema } from '../../kit/sites/site-terms.ts';
import { decimalSchema, offerEvent, publishedSchemas, type LocalizedText } from '../../kit/vocabulary/offer-fields.ts';
import { feedStatuses, trends } from '../../kit/vocabulary/values.ts';

/** Returns the language that is served where one is asked for: English, else the first; undefined without any. */
export function servedLanguage(texts: LocalizedText): string | undefined {
  return texts['en'] === undefined ? Object.keys(texts)[0] : 'en';
}

/** Returns the text of the language that is served where one is asked for. */
export function servedText(texts: LocalizedText): string {
  return texts[servedLanguage(texts) ?? ''] ?? '';
}

/** RFC 3339 in UTC with up to 6 decimal places of a second, ending in `Z`. */
const timestamp = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z$/);

/**
 * One line of `feed-offers.ndjson`: everything that any variant publishes of an offer and that does not depend on the
 * site, as commission and links do. One line per offer that was ever in the catalog, by id; offers that are not
 * `active` are for `include_removed` only.
 */
export const feedOfferSchema = z.strictObject({
  id: z.int().min(1),
  /** For sites' rules; not shown to publishers. */
  source: z.string(),
  status: z.enum(feedStatuses),
  ...publishedSchemas,
  /** Milestones; empty only for a single-reward offer. */
  events: z.array(offerEvent),
  created_at: timestamp,
  updated_at: timestamp,
  removed_at: timestamp.nullable(),
  /** From `offer_stats_2d`, gross; null where the offer has no row there. */
  figures: z
    .strictObject({
      epc: decimalSchema,
      cvr: decimalSchema,
      trend: z.enum(trends),
      rank: z.int().min(1).nullable(),
    })
    .nullable(),
});
export type FeedOffer = z.output<typeof feedOfferSchema>;

/** `feed-sites.json`: the part of every site that a snapshot fixes. Secrets, status and limits are read live. */
export const feedSitesSchema = z.strictObject({
  as_of: timestamp,
  sites: z.array(
    z.strictObject({
      site_key: z.string(),
      /** The oldest first; each holds until the next, the last one now. */
      terms: z
        .array(
          z.strictObject({
            /** As-of of the run that first saw them, or just after that of the snapshot before. */
            valid_from: timestamp,
            ...siteTermsSchema.shape,
          }),
        )
        .min(1),
    }),
  ),
});
export type FeedSites = z.output<typeof feedSitesSchema>;

/** Reads `feed-sites.json`. Snapshots of 0.2.0 have a commission, and when it last changed, in place of `terms`. */
export function readFeedSites(text: string): FeedSites {
  const document = JSON.parse(text) as { sites: object[] };
  return feedSitesSchema.parse({ ...document, sites: document.sites.map(withTerms) });
}

function withTerms(site: object): object {
  if (!('commission' in site)) return site;
  const { site_key, commission, commission_changed_at: changedAt } = site as Record<string, string | null>;
  const first = { valid_from: '1970-01-01T00:00:00Z', commission, commissions: [], offers: {} };
  // Which one it had before is not written.
  const before = { ...first, commission: Number(commission) === 0 ? '1' : '0' };
  return { site_key, terms: changedAt === null ? [first] : [before, { ...first, valid_from: changedAt }] };
}

export const feedOffersFile = 'feed-offers.ndjson';
export const feedSitesFile = 'feed-sites.json';
