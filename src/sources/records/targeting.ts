import { alpha2Countries, readCountry } from '../../kit/vocabulary/countries.ts';

/** What an offer's lists of countries or devices come to. `nothing`: there is nowhere left where it runs. */
export type Targeted = { values: string[]; warnings: string[] } | { nothing: true; warnings: string[] };

/**
 * Countries by an allow list and a deny list of any spelling: the denied are taken from the allowed, from all where
 * none is allowed by name. Empty values mean everywhere. A word that is not understood is passed on in an allow list,
 * so that landing warns of it, and warned of here in a deny list.
 */
export function targetCountries(allowed: readonly string[], denied: readonly string[]): Targeted {
  const warnings: string[] = [];
  if (denied.length === 0) return { values: [...allowed], warnings };
  const without = new Set<string>();
  for (const word of denied) {
    const country = readCountry(word);
    if (country === undefined) warnings.push('denied_country_unknown');
    else if (country === 'all') return { nothing: true, warnings };
    else without.add(country);
  }
  const meant = allowed.map((word) => readCountry(word) ?? word);
  const base = meant.length === 0 || meant.includes('all') ? alpha2Countries : meant;
  const left = base.filter((country) => !without.has(country));
  return left.length === 0 ? { nothing: true, warnings } : { values: left, warnings };
}
