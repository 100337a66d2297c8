import { describe, expect, it } from 'vitest';
import { alpha2Countries, readCountry } from '../../../src/kit/vocabulary/countries.ts';

describe('countries', () => {
  it('knows all 249 codes of ISO 3166-1, ascending and once each', () => {
    expect(alpha2Countries).toHaveLength(249);
    expect(alpha2Countries).toEqual([...new Set(alpha2Countries)].toSorted());
  });

  it('understands every code in any case, and the CLDR name of it', () => {
    const names = new Intl.DisplayNames('en', { type: 'region' });
    for (const code of alpha2Countries) {
      expect(readCountry(code.toLowerCase())).toBe(code);
      expect(readCountry(names.of(code)?.toUpperCase() ?? '')).toBe(code);
    }
  });

  it.each([
    ['UK', 'GB'],
    ['uk', 'GB'],
    [' gb ', 'GB'],
    ['Great Britain', 'GB'],
    ['USA', 'US'],
    ['U.S.A.', 'US'],
    ['United States of America', 'US'],
    ['the Netherlands', 'NL'],
    ['Holland', 'NL'],
    ['Turkey', 'TR'],
    ['Türkiye', 'TR'],
    ['Czech Republic', 'CZ'],
    ['South Korea', 'KR'],
    ['Korea, Republic of', 'KR'],
    ['North Korea', 'KP'],
    ['Russian Federation', 'RU'],
    ['Viet Nam', 'VN'],
    ['Côte d’Ivoire', 'CI'],
    ["Cote d'Ivoire", 'CI'],
    ['Bosnia & Herzegovina', 'BA'],
    ['Bosnia and Herzegovina', 'BA'],
    ['Saint Lucia', 'LC'],
    ['St. Lucia', 'LC'],
    ['DR Congo', 'CD'],
    ['Hong Kong', 'HK'],
    ['Macau', 'MO'],
    ['UAE', 'AE'],
    ['trinidad and tobago', 'TT'],
  ])('takes %s for %s', (text, code) => {
    expect(readCountry(text)).toBe(code);
  });

  it.each(['All', 'ALL COUNTRIES', 'Worldwide', 'world-wide', 'Global', 'any', '*', 'WW'])(
    'takes %s for every country',
    (text) => {
      expect(readCountry(text)).toBe('all');
    },
  );

  it.each(['', ' ', 'XK', 'ZZ', 'Atlantis', 'EU', 'constructor', '__proto__', 'US,DE'])(
    'does not guess what %j means',
    (text) => {
      expect(readCountry(text)).toBeUndefined();
    },
  );
});
