import { z } from 'zod';
import { nearestWord } from '../text/nearest-word.ts';
import { formats } from '../vocabulary/values.ts';
import { objectOf, objectOfOne } from './object-of.ts';

/** Says "did you mean" where a known word is near. */
const hintAt = (written: unknown, words: readonly string[]) => {
  const nearest = typeof written === 'string' ? nearestWord(written, words) : undefined;
  return nearest === undefined ? '' : `; did you mean ${JSON.stringify(nearest)}?`;
};

/** Offers by id, and by source. */
export const namedOffers = {
  offer: z
    .int()
    .min(1)
    .max(2_147_483_647)
    .optional()
    .meta({ absent: 'another key', description: 'One offer, by its public id' }),
  source: z
    .string()
    .min(1)
    .max(128)
    .optional()
    .meta({ absent: 'another key', description: 'All offers of a source, by its folder in `landing/offers`' }),
};

/** Names offers by one of their properties. */
const selectorSchema = objectOfOne({
  ...namedOffers,
  category: z
    .string()
    .min(1)
    .max(256)
    .optional()
    .meta({ absent: 'another key', description: 'All offers of a category, in any case' }),
  format: z
    .enum(formats, {
      error: ({ input }) => `is none of ${formats.join(', ')}${hintAt(input, formats)}`,
    })
    .optional()
    .meta({ absent: 'another key', description: 'All offers of a placement format' }),
});
export type OfferSelector = z.output<typeof selectorSchema>;

const emptyList = 'is empty, which would be no offer or all of them: leave the key out for all';

export const offerRulesSchema = objectOf({
  allow: z.array(selectorSchema).min(1, emptyList).optional().meta({
    absent: 'all offers',
    description: 'Offers that the site may have: those that one of the entries names',
  }),
  deny: z.array(selectorSchema).min(1, emptyList).optional().meta({
    absent: 'no offer',
    description: 'Offers that it may not have, although they are allowed',
  }),
});
export type OfferRules = z.output<typeof offerRulesSchema>;

/** An offer as far as rules look at it. */
export interface RuledOffer {
  id: number;
  source: string;
  categories: readonly string[];
  formats: readonly string[];
}

/** Returns true for an offer that the rules let a site have. */
export function isOffered({ allow, deny }: OfferRules, ruled: RuledOffer): boolean {
  const isNamed = (selector: OfferSelector) => selects(selector, ruled);
  return (allow === undefined || allow.some(isNamed)) && deny?.some(isNamed) !== true;
}

function selects(selector: OfferSelector, { id, source: own, categories, formats: places }: RuledOffer): boolean {
  if (selector.offer !== undefined) return selector.offer === id;
  if (selector.source !== undefined) return selector.source === own;
  if (selector.format !== undefined) return places.includes(selector.format);
  const category = selector.category?.toLowerCase();
  return categories.some((name) => name.toLowerCase() === category);
}

/** The same rules in one spelling: what is equal to the others is equal as text. */
export function canonicalRules(rules: OfferRules): OfferRules {
  return Object.fromEntries(
    (['allow', 'deny'] as const).flatMap((key) => {
      const texts = rules[key]?.map(({ category, ...selector }) =>
        JSON.stringify(category === undefined ? selector : { category: category.toLowerCase() }),
      );
      if (texts === undefined) return [];
      return [[key, [...new Set(texts)].toSorted().map((text) => JSON.parse(text) as OfferSelector)]];
    }),
  );
}
