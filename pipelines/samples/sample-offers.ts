import { jsonText, parseJson, type JsonObject, type JsonValue } from '../../src/kit/text/json-text.ts';
import { landingFieldNames } from '../../src/kit/vocabulary/offer-fields.ts';
import type { CanonicalOffer } from '../../src/pipeline/landing/catalog/canonical-offer.ts';
import { parseOfferRecord, type OfferReading } from '../../src/pipeline/landing/catalog/offer-record.ts';
import type { ReadOffer } from '../../src/sources/check-source.ts';
import type { CanonicalRecord } from '../../src/sources/connectors/connector.ts';
import type { ConvertedRecord } from '../../src/sources/records/traced-places.ts';
import { pulledCure, warningMeaning } from './cures.ts';
import { countReasons, sampledRecord, type CountedReason, type SampledRecord } from './sampled-record.ts';

/** What landing makes of an offer of a page. */
export interface LandedOffer {
  /** Undefined where it is rejected or left out. */
  offer?: CanonicalOffer;
  reject?: string;
  leftOut?: string;
  warnings: string[];
}

/** The offers of a page as they would be, the first of them beside the network's records. */
export interface OffersSample {
  records: number;
  rejects: CountedReason[];
  left_out: CountedReason[];
  warnings: CountedReason[];
  sample: SampledRecord[];
}

interface OffersReading extends OfferReading {
  source: string;
  convert: (record: JsonValue) => CanonicalRecord;
  redact: (text: string) => string;
}

/** Reads the offers of a page as landing would. */
export function landedOffers(records: readonly ReadOffer[], reading: OfferReading): LandedOffer[] {
  return records.map(({ read }) => {
    if ('leftOut' in read) return { leftOut: read.leftOut, warnings: [] };
    const landed = parseOfferRecord(jsonText(read.record), reading);
    const warnings = [
      ...(read.warnings ?? []),
      ...landed.warnings.map(({ warning, field }) => (field === null ? warning : `${warning} ${field}`)),
    ];
    return 'reject' in landed ? { reject: landed.reject, warnings } : { offer: landed.offer, warnings };
  });
}

export function sampleOffers(
  records: readonly ReadOffer[],
  landed: readonly LandedOffer[],
  shown: number,
  reading: OffersReading,
): OffersSample {
  const cure = (reason: string) => pulledCure(reason, reading.source);
  return {
    records: records.length,
    rejects: countReasons(
      landed.flatMap(({ reject }) => reject ?? []),
      cure,
    ),
    left_out: countReasons(
      landed.flatMap(({ leftOut }) => leftOut ?? []),
      cure,
    ),
    warnings: countReasons(
      landed.flatMap(({ warnings }) => warnings),
      warningMeaning,
    ),
    sample: records.slice(0, shown).map(({ record, read }, index) => {
      const { offer, reject, leftOut, warnings } = landed[index] as LandedOffer;
      const values = 'record' in read ? storedFields(read.record, offer) : {};
      const id = values['external_id'];
      const reason = reject ?? leftOut ?? null;
      return {
        id: id === undefined ? null : reading.redact(jsonText(id).replaceAll('"', '')),
        becomes: becomes(offer, leftOut),
        reason,
        cure: reason === null ? null : cure(reason),
        warnings,
        ...sampledRecord(record, values, (other) => fieldsOf(reading.convert(other), read), reading.redact),
      };
    }),
  };
}

function becomes(offer: CanonicalOffer | undefined, leftOut: string | undefined): SampledRecord['becomes'] {
  if (offer !== undefined) return 'offer';
  return leftOut === undefined ? 'rejected' : 'left_out';
}

/** The fields of a record for landing; of one that is left out those of `unchanged`, and that. */
function fieldsOf(read: CanonicalRecord, unchanged: CanonicalRecord): ConvertedRecord {
  if ('record' in read) return read.record;
  return { ...('record' in unchanged ? unchanged.record : {}), left_out: read.leftOut };
}

/** Names of the fields that a stored offer has under another name. */
const storedNames: Readonly<Record<string, keyof CanonicalOffer>> = {
  title: 'titles',
  description: 'descriptions',
  image: 'image_source',
};

/** The fields of a landing record with their values as they are stored, where the record becomes an offer. */
function storedFields(record: JsonObject, offer: CanonicalOffer | undefined): ConvertedRecord {
  const names = landingFieldNames.filter((name) => record[name] !== undefined && record[name] !== '');
  return Object.fromEntries(
    names.map((name) => {
      const stored = offer?.[(storedNames[name] ?? name) as keyof CanonicalOffer];
      return [name, stored === undefined ? record[name] : plainText(stored)];
    }),
  );
}

/** A text in English alone is shown as the text. */
function plainText(stored: CanonicalOffer[keyof CanonicalOffer]): JsonValue {
  const value = parseJson(JSON.stringify(stored)) ?? null;
  const texts = value as { [language: string]: JsonValue };
  return typeof stored === 'object' && !Array.isArray(stored) && Object.keys(stored ?? {}).join() === 'en'
    ? (texts['en'] ?? null)
    : value;
}
