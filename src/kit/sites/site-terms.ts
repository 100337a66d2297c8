import { z } from 'zod';
import { decimalSchema } from '../vocabulary/offer-fields.ts';
import { offerCommissions } from './offer-commissions.ts';
import { canonicalRules, offerRulesSchema } from './offer-rules.ts';
import { commissionText, type Site } from './sites.ts';

/** What a site is shown, and what it gets of a payout: a change of these changes its feeds. */
export const siteTermsSchema = z.strictObject({
  /** Decimal text of a share from 0 to 1. */
  commission: decimalSchema,
  commissions: z.array(
    z.strictObject({ offer: z.int().nullable(), source: z.string().nullable(), commission: decimalSchema }),
  ),
  offers: offerRulesSchema,
});
export type SiteTerms = z.output<typeof siteTermsSchema>;

/** Returns a site's terms in one spelling: equal ones are equal as text. */
export function termsOf(site: Pick<Site, 'commission' | 'commissions' | 'offers'>): SiteTerms {
  return {
    commission: commissionText(site),
    commissions: offerCommissions(site.commissions),
    offers: canonicalRules(site.offers ?? {}),
  };
}
