import { alpha2Countries, readCountry } from '../../kit/vocabulary/countries.ts';

/** Targeting of an offer. `nothing`: the lists leave no place where it runs. */
type Targeted = { values: string[]; warnings: string[] } | { nothing: true; warnings: string[] };

/**
 * Computes the countries of an allow list and a deny list in any spelling: the denied are removed from the allowed, or
 * from all where none is allowed by name. Empty values mean everywhere. An unknown word of an allow list is passed on,
 * so that landing warns of it; one of a deny list is a warning here.
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
