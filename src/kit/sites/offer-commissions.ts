import { z } from 'zod';
import { decimalOfNumber, share } from './exact-number.ts';
import { objectOfOne } from './object-of.ts';
import { namedOffers } from './offer-rules.ts';
import { compareTexts } from '../text/compare-texts.ts';

/** Commissions of some offers of a site, each by the offer or by its source. */
export const offerCommissionsSchema = z
  .array(
    objectOfOne(
      {
        ...namedOffers,
        commission: share.meta({ unit: 'share', description: 'Commission of these offers; at most 6 places' }),
      },
      ['offer', 'source'],
    ),
  )
  .superRefine((commissions, context) => {
    const seen = new Set<string>();
    for (const [index, { commission: _commission, ...named }] of commissions.entries()) {
      const key = JSON.stringify(named);
      if (seen.has(key))
        context.addIssue({ code: 'custom', path: [index], message: 'names the same offers as an entry before it' });
      seen.add(key);
    }
  });

/** A commission of some offers. */
export interface OfferCommission {
  /** Public id; null where the source says which offers. */
  offer: number | null;
  source: string | null;
  /** Decimal text of a share from 0 to 1. */
  commission: string;
}

/** Returns the commissions of `sites.json` in one order and spelling. */
export function offerCommissions(commissions: z.output<typeof offerCommissionsSchema> = []): OfferCommission[] {
  return commissions
    .map(({ offer = null, source = null, commission }) => ({ offer, source, commission: decimalOfNumber(commission) }))
    .toSorted(
      (one, other) => (one.offer ?? 0) - (other.offer ?? 0) || compareTexts(one.source ?? '', other.source ?? ''),
    );
}

/** Returns the function from an offer to its commission: its own, else its source's, else the site's. */
export function commissionOf(
  site: string,
  commissions: readonly OfferCommission[],
): (offer: { id: number; source: string }) => string {
  const byOffer = new Map(commissions.map(({ offer, commission }) => [offer, commission]));
  const bySource = new Map(commissions.map(({ source, commission }) => [source, commission]));
  return ({ id, source }) => byOffer.get(id) ?? bySource.get(source) ?? site;
}
