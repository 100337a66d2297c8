/** ISO 3166-1 alpha-2, all officially assigned codes, ascending. */
export const alpha2Countries: readonly string[] = `
AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ
CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR
GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP
KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT
MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW
SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ
UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW`
  .trim()
  .split(/\s+/);

/** Words by which catalogs say "every country". */
const worldwideWords = new Set([
  'all',
  'all countries',
  'all geos',
  'any',
  'everywhere',
  'global',
  'international',
  'world',
  'world wide',
  'worldwide',
  'ww',
]);

/** Names in use beside those of CLDR, as `plainName` writes them. */
const otherNames: Record<string, string> = {
  uk: 'GB',
  'great britain': 'GB',
  britain: 'GB',
  england: 'GB',
  scotland: 'GB',
  wales: 'GB',
  'northern ireland': 'GB',
  'united kingdom of great britain and northern ireland': 'GB',
  usa: 'US',
  'u s': 'US',
  'u s a': 'US',
  america: 'US',
  'united states of america': 'US',
  uae: 'AE',
  emirates: 'AE',
  'bolivia plurinational state of': 'BO',
  bosnia: 'BA',
  brunei: 'BN',
  'brunei darussalam': 'BN',
  'cabo verde': 'CV',
  'congo democratic republic of the': 'CD',
  'democratic republic of the congo': 'CD',
  'democratic republic of congo': 'CD',
  'dr congo': 'CD',
  drc: 'CD',
  'congo republic of the': 'CG',
  'republic of the congo': 'CG',
  congo: 'CG',
  'czech republic': 'CZ',
  'east timor': 'TL',
  'federated states of micronesia': 'FM',
  'micronesia federated states of': 'FM',
  'falkland islands malvinas': 'FK',
  holland: 'NL',
  'holy see': 'VA',
  vatican: 'VA',
  'hong kong': 'HK',
  'iran islamic republic of': 'IR',
  'ivory coast': 'CI',
  'korea republic of': 'KR',
  'republic of korea': 'KR',
  korea: 'KR',
  'korea democratic people s republic of': 'KP',
  'democratic people s republic of korea': 'KP',
  'lao people s democratic republic': 'LA',
  macao: 'MO',
  macau: 'MO',
  macedonia: 'MK',
  'republic of north macedonia': 'MK',
  'moldova republic of': 'MD',
  'republic of moldova': 'MD',
  burma: 'MM',
  myanmar: 'MM',
  palestine: 'PS',
  'palestine state of': 'PS',
  'state of palestine': 'PS',
  'russian federation': 'RU',
  'slovak republic': 'SK',
  swaziland: 'SZ',
  'syrian arab republic': 'SY',
  'taiwan province of china': 'TW',
  'tanzania united republic of': 'TZ',
  'united republic of tanzania': 'TZ',
  turkey: 'TR',
  'us virgin islands': 'VI',
  'venezuela bolivarian republic of': 'VE',
  'viet nam': 'VN',
};

let countriesByName: ReadonlyMap<string, string> | undefined;

/** Reads a catalog's word for a country: an alpha-2 code, `all`, or undefined for an unknown word. */
export function readCountry(text: string): string | undefined {
  if (text.trim() === '*') return 'all';
  // Most words are codes, which need no simplifying.
  const name = /^[A-Za-z]{2}$/.test(text) ? text.toLowerCase() : plainName(text);
  return worldwideWords.has(name) ? 'all' : (countriesByName ??= allNames()).get(name);
}

/** Built when the first catalog is read: most commands read none, and CLDR's names take a while. */
function allNames(): Map<string, string> {
  const countries = new Map<string, string>();
  for (const style of ['narrow', 'short', 'long'] as const) {
    const names = new Intl.DisplayNames('en', { type: 'region', style });
    for (const code of alpha2Countries) countries.set(plainName(names.of(code) ?? code), code);
  }
  for (const [name, code] of Object.entries(otherNames)) countries.set(name, code);
  for (const code of alpha2Countries) countries.set(code.toLowerCase(), code);
  return countries;
}

/** Simplifies a name: lower case without accents, punctuation and a leading article; "Saint" as "St", as in CLDR. */
function plainName(name: string): string {
  return name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll('&', ' and ')
    .replaceAll(/[^\p{L}]+/gu, ' ')
    .trim()
    .replace(/^the /, '')
    .replaceAll(/\bsaint\b/g, 'st');
}
