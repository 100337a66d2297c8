import type { Settings } from '../../src/kit/config/settings.ts';
import { jsonText } from '../../src/kit/text/json-text.ts';
import { dateOf, type Moment } from '../../src/kit/time/moment.ts';
import { readConversion, readOffer, type FirstPages, type ReadOffer } from '../../src/sources/check-source.ts';
import type { SourceEntry } from '../../src/sources/config/sources-file.ts';
import { resolveSource, type ResolvedSource } from '../../src/sources/resolve-source.ts';
import { modeAdvice } from '../mode-advice.ts';
import { oddConversions, oddOffers, type Oddity } from './oddities.ts';
import { sampleConversions, type ConversionsSample } from './sample-conversions.ts';
import { landedOffers, sampleOffers, type OffersSample } from './sample-offers.ts';

/** First pages of a source as landing would read them, and what is odd about them. */
export interface SampledPages {
  offers?: OffersSample;
  conversions?: ConversionsSample;
  odd: Oddity[];
  /** Settings that the source lacks: its amounts have no currency, or its times no zone. */
  needs: ('currency' | 'time_zone')[];
}

export interface Sampling {
  settings: Settings;
  /** Names of the other sources, as in `sources.json`. */
  otherSources: readonly string[];
  pulledAt: Moment;
  /** Records of each list that are shown. */
  shown: number;
}

/** Reads the first pages of a source as landing would, without writing anything. */
export function samplePages(
  entry: SourceEntry,
  source: ResolvedSource,
  pages: FirstPages,
  { settings, otherSources, pulledAt, shown }: Sampling,
): SampledPages {
  const redact = (text: string) => source.redactor.redact(text);
  const sampled: SampledPages = { odd: [], needs: [] };
  if (pages.offers !== undefined && source.offers !== undefined) {
    const { isFull } = source.offers;
    const { links, linked } = pages.offers;
    const convert = (record: ReadOffer['record']) => readOffer(source, record, links);
    const records = pages.offers.records.slice(0, linked).map((record) => ({ record, read: convert(record) }));
    const currencies = new Set<string>();
    const reading = {
      source: entry.source,
      currencyRates: settings.rates,
      onCurrency: (currency: string) => void currencies.add(currency),
      timeZone: settings.sources[entry.source]?.time_zone,
      wallClock: dateOf(pulledAt),
      textCells: false,
      convert,
      redact,
    };
    const landed = landedOffers(records, reading);
    const withoutCurrency = entry.currency === undefined ? countWithoutCurrency(entry, records, links) : 0;
    sampled.offers = sampleOffers(records, landed, shown, reading);
    const mode = settings.sources[entry.source]?.mode ?? 'full';
    if (isFull !== (mode === 'full'))
      sampled.odd.push({ odd: 'a pull would fail', cure: modeAdvice(entry.source, mode) });
    sampled.odd.push(...oddOffers({ source: entry.source, settings, records, landed, currencies, withoutCurrency }));
    if (withoutCurrency > 0) sampled.needs.push('currency');
  }
  if (pages.conversions !== undefined && source.conversions !== undefined) {
    const convert = (record: ReadOffer['record']) => readConversion(source, record);
    const records = pages.conversions.records.map((record) => ({ record, read: convert(record) }));
    sampled.conversions = sampleConversions(records, shown, {
      source: entry.source,
      otherSources,
      timeZone: entry.time_zone,
      currency: entry.currency,
      rates: settings.rates,
      pulledAt,
      convert,
      redact,
    });
    sampled.odd.push(...oddConversions(entry.source, sampled.conversions));
    if (sampled.conversions.left_out.some(({ reason }) => reason === 'time_without_zone'))
      sampled.needs.push('time_zone');
  }
  sampled.odd = sampled.odd.map(({ odd, cure }) => ({ odd: redact(odd), cure: redact(cure) }));
  return sampled;
}

/** Currency code that no network uses: a record that it changes has no currency of its own. */
const testCurrency = 'XTS';

function countWithoutCurrency(
  entry: SourceEntry,
  records: readonly ReadOffer[],
  links: NonNullable<FirstPages['offers']>['links'],
): number {
  const source = resolveSource({ ...entry, currency: testCurrency });
  if (source === undefined) return 0;
  return records.filter(({ record, read }) => {
    const other = readOffer(source, record, links);
    return 'record' in read && 'record' in other && jsonText(read.record) !== jsonText(other.record);
  }).length;
}
