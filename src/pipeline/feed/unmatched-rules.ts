import { selectorText } from '../../kit/sites/selector-text.ts';
import type { OfferSelector } from '../../kit/sites/offer-rules.ts';
import type { Site } from '../../kit/sites/sites.ts';
import { nearestWord } from '../../kit/text/nearest-word.ts';

/** Names in a catalog, of offers that are gone, too. */
export interface CatalogNames {
  ids: ReadonlySet<number>;
  sources: ReadonlySet<string>;
  /** In lower case. */
  categories: ReadonlySet<string>;
}

/** An entry of a site's rules or commissions that names no offer. */
export interface UnmatchedRule {
  /** Place within the site. */
  path: (string | number)[];
  /** What it is, and what is meant perhaps: the rest of a sentence that begins with its place. */
  message: string;
}

/** Returns the entries that name no offer of the catalog, which may be slips of the pen. */
export function unmatchedRules(
  { offers = {}, commissions = [] }: Pick<Site, 'offers' | 'commissions'>,
  { ids, sources, categories }: CatalogNames,
): UnmatchedRule[] {
  const entries: { path: (string | number)[]; selector: OfferSelector }[] = [
    ...(['allow', 'deny'] as const).flatMap((list) =>
      (offers[list] ?? []).map((selector, index) => ({ path: ['offers', list, index], selector })),
    ),
    ...commissions.map(({ offer, source }, index) => ({ path: ['commissions', index], selector: { offer, source } })),
  ];
  return entries.flatMap(({ path, selector }) => {
    const { offer, source, category } = selector;
    const isKnown =
      (offer === undefined || ids.has(offer)) &&
      (source === undefined || sources.has(source)) &&
      (category === undefined || categories.has(category.toLowerCase()));
    if (isKnown) return [];
    const nearest = source === undefined ? nearestWord(category ?? '', categories) : nearestWord(source, sources);
    const hint = offer !== undefined || nearest === undefined ? '' : `; did you mean ${nearest}?`;
    return [{ path, message: `names no offer of the catalog: ${selectorText(selector)}${hint}` }];
  });
}
