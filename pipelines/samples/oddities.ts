import { isCurrencyCode, type Settings } from '../../src/kit/config/settings.ts';
import { counted } from '../../src/kit/text/counted.ts';
import { readCountry } from '../../src/kit/vocabulary/countries.ts';
import { readDevice } from '../../src/kit/vocabulary/devices.ts';
import { namesClick, readDestination, unknownMacros } from '../../src/pipeline/routes/destination.ts';
import type { ReadOffer } from '../../src/sources/check-source.ts';
import { namesCurrency } from '../../src/sources/records/currency.ts';
import type { ConversionsSample } from './sample-conversions.ts';
import type { LandedOffer } from './sample-offers.ts';

/** Something about a page that an operator should look at before the source is pulled. */
export interface Oddity {
  odd: string;
  /** What to do about it. */
  cure: string;
}

interface OddOffers {
  source: string;
  settings: Settings;
  records: readonly ReadOffer[];
  landed: readonly LandedOffer[];
  /** Currencies other than USD that amounts are in. */
  currencies: ReadonlySet<string>;
  /** Number of records whose amounts come without a currency or with a sign alone, where the source says none. */
  withoutCurrency: number;
}

/** Lists what is odd about the offers of a page. */
export function oddOffers(page: OddOffers): Oddity[] {
  const { landed, records, settings } = page;
  const offers = landed.flatMap(({ offer }) => offer ?? []);
  const odd: Oddity[] = [];
  const add = (some: number, what: string, cure: string) =>
    some > 0 && odd.push({ odd: `${amongst(some, offers.length)} ${what}`, cure });
  if (records.length === 0)
    return [
      {
        odd: 'the list of offers is empty',
        cure: 'a pull would fail: does the network have to approve the account, or offers for it, first?',
      },
    ];
  if (offers.length === 0)
    odd.push({
      odd: `no offer comes of ${counted(records.length, 'record')}`,
      cure: 'the reasons are above, each with what to do',
    });
  const payless = landed.filter(({ reject }) => reject === 'missing_payout').length;
  if (payless > 0)
    odd.push({
      odd: `${counted(payless, 'record')} of ${records.length} without a payout`,
      cure: 'they are rejected: a share of sales, or a payout for clicks, is no amount for a conversion',
    });
  add(
    offers.filter(({ payout }) => Number(payout) === 0).length,
    'with a payout of 0',
    'publishers would earn nothing by them',
  );
  const paused = offers.filter(({ status }) => status === 'paused');
  const linkless = paused.filter((offer) => offer.destination_url === null).length;
  add(linkless, 'without a link', 'they are paused: is the account approved for them?');
  if (paused.length > linkless && paused.length === offers.length)
    odd.push({
      odd: 'all offers are paused',
      cure: 'none would be shown: ask the network what its status words mean, or whether the account is approved',
    });
  if (offers.length > 0 && offers.every(({ countries }) => countries.length === 0))
    odd.push({
      odd: 'no offer has countries',
      cure: 'all are shown everywhere: is their place in the record another?',
    });
  odd.push(...oddLinks(page), ...oddWords(records));
  const named = [...page.currencies].filter(namesCurrency);
  const noCode = named.filter((currency) => !isCurrencyCode(currency));
  if (noCode.length > 0)
    odd.push({
      odd: `amounts in ${noCode.join(', ')}, which is no code of a currency`,
      cure: `they are rejected: "words" of the field says which one is meant, {"${noCode[0]}": "EUR"}`,
    });
  const noRate = named.filter((currency) => isCurrencyCode(currency) && !Object.hasOwn(settings.rates, currency));
  if (noRate.length > 0)
    odd.push({
      odd: `amounts in ${noRate.join(', ')}, without a rate`,
      cure: `they are rejected: add "rates": {"${noRate[0]}": "…"} to offerline.json, USD for one of it`,
    });
  if (page.withoutCurrency > 0)
    odd.push({
      odd: `${counted(page.withoutCurrency, 'record')} of ${records.length} without a currency, or with a sign alone`,
      cure: '"currency" of the source says which one: until then an amount counts as USD, and one with a sign is rejected',
    });
  return odd;
}

/** Lists what is odd about the conversions of a page. */
export function oddConversions(source: string, { records, left_out }: ConversionsSample): Oddity[] {
  if (records === 0)
    return [
      {
        odd: 'no conversion on the first page',
        cure: 'how its times and words are read is not known yet: look again by sources check --sample once there are some',
      },
    ];
  const odd: Oddity[] = [];
  const count = (of: string) => left_out.find(({ reason }) => reason === of)?.records ?? 0;
  const zoneless = count('time_without_zone');
  if (zoneless > 0)
    odd.push({
      odd: `${counted(zoneless, 'conversion')} of ${records} with times without a zone`,
      cure: `a pull would fail: "time_zone" of ${source} in sources.json says which, as the network's account has it`,
    });
  if (count('no_click') === records)
    odd.push({
      odd: 'no conversion has a click id',
      cure: 'nobody can be credited: our links must hand {click_id} over',
    });
  return odd;
}

function oddLinks({ landed, source, settings }: OddOffers): Oddity[] {
  const active = landed.flatMap(({ offer }) => (offer?.status === 'active' ? [offer] : []));
  const own = settings.tracker.sources[source];
  const cures = new Map<string, { cure: string; offers: number }>();
  const note = (what: string, cure: string) => cures.set(what, { cure, offers: (cures.get(what)?.offers ?? 0) + 1 });
  for (const { destination_url } of active) {
    if (destination_url === null) {
      note('without a link', 'clicks on them are refused: is the account approved for them?');
      continue;
    }
    const destination = readDestination(destination_url, own);
    if ('mistake' in destination) note(`with a link that ${destination.mistake}`, 'clicks on them are refused');
    else if (!namesClick(destination))
      note(
        'with a link that takes no click id',
        `their conversions cannot be attributed: "tracker": {"sources": {"${source}": {"append_click_id": "<parameter>"}}} of offerline.json names the network's parameter for it`,
      );
    for (const { macro, remedy } of unknownMacros(destination_url, own))
      note(`with ${macro} in the link, which nobody fills`, remedy);
  }
  return [...cures].map(([what, { cure, offers }]) => ({
    odd: `${amongst(offers, active.length, 'active offer')} ${what}`,
    cure,
  }));
}

/** Words of lists that nobody understands. */
const wordsOf = [
  { field: 'countries', read: readCountry },
  { field: 'devices', read: readDevice },
] as const;
const maxWords = 8;

function oddWords(records: readonly ReadOffer[]): Oddity[] {
  return wordsOf.flatMap(({ field, read }) => {
    const words = records.flatMap(({ read: made }) => ('record' in made ? (made.record[field] ?? []) : []));
    const unknown = new Set(words.filter((word) => typeof word === 'string' && read(word) === undefined));
    if (unknown.size === 0) return [];
    const named = [...unknown].slice(0, maxWords).map((word) => JSON.stringify(word));
    const more = unknown.size > maxWords ? ` and ${unknown.size - maxWords} more` : '';
    return [
      {
        odd: `unknown words of ${field}: ${named.join(', ')}${more}`,
        cure: 'they are dropped, and an offer with no other word is rejected',
      },
    ];
  });
}

function amongst(some: number, all: number, noun = 'offer'): string {
  return some === all ? `all ${counted(all, noun)}` : `${some} of ${counted(all, noun)}`;
}
