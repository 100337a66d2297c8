import type { Moment } from '../../../kit/time/moment.ts';
import type { CanonicalOffer } from './canonical-offer.ts';
import { readCountry } from '../../../kit/vocabulary/countries.ts';
import { readDevice } from '../../../kit/vocabulary/devices.ts';
import { maxMembers } from '../../../kit/vocabulary/offer-bounds.ts';
import {
  landingFieldNames,
  offerFieldNames,
  offerFields,
  type OfferContent,
  type SpecialFieldName,
} from '../../../kit/vocabulary/offer-fields.ts';
import { devices, formats, offerStatuses, type Device } from '../../../kit/vocabulary/values.ts';
import { imageName } from './image-name.ts';
import { duplicateKey, endOfString, isJsonObject, parseJson } from '../../../kit/text/json-text.ts';
import { hasBraces, withPlainAmpersands } from '../../../kit/text/macros.ts';
import { publicAddress } from '../../../kit/text/public-address.ts';
import type { IngestWarning } from '../landing-file.ts';
import { mappedKeys, rejectKey } from '../lines/mapped-line.ts';
import { readOfferMoney, type CurrencyReading } from './offer-money.ts';
import { isIdentifier, matchChoice, RecordFields, RecordReject, tooMany } from './record-fields.ts';
import { readTimestamp } from '../../../kit/time/timestamp-text.ts';

export interface OfferReading extends CurrencyReading {
  /** Zone of timestamps without an offset; without it such records are rejected. */
  timeZone?: string | undefined;
  /** The record comes from text columns (CSV, Parquet): an empty text is absent, nested values may be JSON text. */
  textCells: boolean;
  /** A timestamp more than 24 hours after it is refused. */
  wallClock: Date;
}

export type OfferReadingResult =
  | { offer: CanonicalOffer; warnings: IngestWarning[] }
  /** `reject` is the reason code; `externalId` is null where the record does not say which offer it is about. */
  | { reject: string; externalId: string | null; warnings: IngestWarning[] };

const knownFields = new Set<string>([...landingFieldNames, ...mappedKeys]);
const maxInteger = 2 ** 31 - 1;

/** Turns one record of a catalog, as JSON text, into a canonical offer. Never throws. */
export function parseOfferRecord(raw: string, reading: OfferReading): OfferReadingResult {
  const record = parseJson(raw);
  if (!isJsonObject(record)) return { reject: 'not_json_object', externalId: externalIdIn(raw), warnings: [] };
  if (duplicateKey(raw, record) !== undefined)
    return { reject: 'duplicate_key', externalId: externalIdIn(raw), warnings: [] };
  const fields = new RecordFields(record, reading.textCells);
  try {
    const refused = fields.scalar(rejectKey);
    if (typeof refused === 'string') throw new RecordReject(refused);
    return { offer: readOffer(fields, reading), warnings: fields.warnings };
  } catch (error) {
    if (!(error instanceof RecordReject)) throw error;
    const externalId = fields.name('external_id') ?? null;
    return {
      reject: error.reason,
      externalId: isIdentifier(externalId) ? externalId : null,
      warnings: fields.warnings,
    };
  }
}

function readOffer(fields: RecordFields, reading: OfferReading): CanonicalOffer {
  fields.warnOfUnknown(knownFields);
  const externalId = fields.identifier('external_id');
  const id = readId(fields);
  const titles = fields.localized('title');
  if (titles === undefined) throw new RecordReject(fields.value('title') === undefined ? 'missing_title' : 'bad_title');
  const { payout, events, currency, currency_rate } = readOfferMoney(fields, reading);
  const image = withPlainAmpersands(fields.text('image', isPicture) ?? '');
  const content = readContent(fields, {
    titles: () => titles,
    descriptions: () => fields.localized('description') ?? {},
    payout: () => payout,
    image_name: () => imageName(image),
    image_source: () => image,
    categories: () => readCategories(fields),
    countries: () => readCountries(fields),
    devices: () => readDevices(fields),
    formats: () => readFormats(fields),
    currency: () => currency,
    currency_rate: () => currency_rate,
  });
  return {
    external_id: externalId,
    id,
    ...content,
    status: readStatus(fields),
    events,
    created_at: readDate(fields, 'created_at', reading),
    updated_at: readDate(fields, 'updated_at', reading),
  };
}

/** All fields of the content in their order, on which digests depend. `special` reads those with rules of their own. */
function readContent(
  fields: RecordFields,
  special: { [Name in SpecialFieldName]: () => OfferContent[Name] },
): OfferContent {
  const content: Record<string, unknown> = {};
  for (const name of offerFieldNames) {
    const read: ((fields: RecordFields, name: string) => unknown) | null = offerFields[name].read;
    content[name] = read === null ? special[name as SpecialFieldName]() : read(fields, name);
  }
  return content as OfferContent;
}

function readId(fields: RecordFields): number | null {
  const text = fields.name('id');
  if (text === undefined) return null;
  if (text === null || !/^[1-9]\d{0,9}(\.0+)?$/.test(text) || Number(text) > maxInteger)
    throw new RecordReject('bad_id');
  return Number(text);
}

/** A status that we do not know is refused, not guessed: it may mean that the offer must not be shown. */
function readStatus(fields: RecordFields): CanonicalOffer['status'] {
  const text = fields.scalar('status');
  const status = text === undefined ? 'active' : matchChoice(text ?? '', offerStatuses);
  if (status === undefined) throw new RecordReject('bad_status');
  return status;
}

function readDate(fields: RecordFields, name: string, { wallClock, timeZone }: OfferReading): Moment | null {
  const text = fields.scalar(name);
  if (text === undefined) return null;
  const read = readTimestamp(text ?? '', wallClock, timeZone);
  if ('moment' in read) return read.moment;
  throw new RecordReject(read.fault === 'malformed' ? `bad_${name}` : read.fault);
}

function readCategories(fields: RecordFields): string[] {
  const categories = new Set<string>();
  for (const text of fields.list('categories')) {
    if (!text) fields.warn('bad_categories', 'categories');
    else if (categories.has(text)) continue;
    else if (categories.size < maxMembers) categories.add(fields.cut('categories', text));
    else fields.warn(tooMany, 'categories');
  }
  categories.delete('');
  return [...categories];
}

/** Drops what is not understood. If nothing is left of a list the record is refused: empty would mean worldwide. */
function readCountries(fields: RecordFields): string[] {
  const meanings = understood(fields, 'countries', readCountry);
  return meanings.includes('all') ? [] : [...new Set(meanings)].toSorted();
}

/** As with countries: a list of which nothing is understood must not come to mean all devices. */
function readDevices(fields: RecordFields): Device[] {
  const meanings = understood(fields, 'devices', readDevice).flat();
  return meanings.includes('all') ? [] : devices.filter((device) => meanings.includes(device));
}

function understood<Meaning>(
  fields: RecordFields,
  name: string,
  read: (text: string) => Meaning | undefined,
): Meaning[] {
  const words = fields.list(name);
  const meanings: Meaning[] = [];
  for (const word of words) {
    const meaning = word ? read(word) : undefined;
    if (meaning === undefined) fields.warn(`bad_${name}`, name);
    else meanings.push(meaning);
  }
  if (words.length > 0 && meanings.length === 0) throw new RecordReject(`bad_${name}`);
  return meanings;
}

function readFormats(fields: RecordFields): CanonicalOffer['formats'] {
  const chosen = new Set<string>();
  for (const text of fields.list('formats')) {
    const format = text && (matchChoice(text, formats) ?? matchChoice(`${text}s`, formats));
    if (format) chosen.add(format);
    else fields.warn('bad_formats', 'formats');
  }
  return chosen.size === 0 ? ['offerwall'] : formats.filter((format) => chosen.has(format));
}

/** A web address that leads to a picture: the feeds name no other. */
function isPicture(text: string): boolean {
  // Nobody fills a template such as `…/{w}x{h}.{f}`.
  return /^https?:\/\//i.test(text) && !hasBraces(text) && publicAddress(text) !== undefined;
}

/** Finds the offer that a broken record was about, where its text says so beyond doubt. */
function externalIdIn(raw: string): string | null {
  const written = new Set<string>();
  for (const { 0: name, 1: digits, index } of raw.matchAll(/"external_id"\s*:\s*(?="|(\d+)\s*[,}])/g)) {
    const start = index + name.length;
    written.add(digits ?? raw.slice(start, endOfString(raw, start)));
  }
  const [only] = written;
  if (only === undefined || written.size > 1) return null;
  const value = only.startsWith('"') ? parseJson(only) : only;
  return typeof value === 'string' && isIdentifier(value) ? value : null;
}
