import { hash } from 'node:crypto';
import type { CanonicalOffer } from '../../landing/catalog/canonical-offer.ts';
import { keptText, type KeptText } from '../../../kit/text/kept-text.ts';
import type { LandingRecord } from '../../landing/landing-file.ts';
import { parseOfferRecord, type OfferReading } from '../../landing/catalog/offer-record.ts';
import { parseJson } from '../../../kit/text/json-text.ts';
import { landingFieldNames } from '../../../kit/vocabulary/offer-fields.ts';
import { isCurrencyCode } from '../../../kit/config/settings.ts';
import { maxRejectsKept } from '../ledger/ledger.ts';
import type { NewFile } from '../ledger/read-again.ts';
import { WarningCounts } from '../ledger/warning-counts.ts';
import { remarksText, type KnownRecords, type RecordRemarks } from './offer-records.ts';
import { hasTextCells } from './reading-digest.ts';

/** A row of a catalog file, as much of it as is kept. */
export interface KeptRow extends KeptText {
  line: number;
}

export interface AcceptedRecord {
  offer: CanonicalOffer;
  /** Only of a row that brings an id, which may turn out to be another offer's: no other can be rejected any more. */
  row: KeptRow | null;
  recordSha256: string;
  /** JSON of `RecordRemarks`; undefined where they are too long to be kept. */
  remarks: string | null | undefined;
}

export interface RejectedRow extends KeptRow {
  reason: string;
}

/** A catalog file after reading and normalising, before it is held against the catalog. */
export interface CatalogExport {
  file: NewFile;
  /** Digest of how its records were read. */
  readAsSha256: string;
  rows: number;
  /** At most one for each `external_id`: the first. Without those of `unchanged`. */
  accepted: AcceptedRecord[];
  /** Offers whose record is the one that their present version follows from. */
  unchanged: Set<string>;
  /** Further accepted rows, which a later file replaces. */
  overruled: number;
  duplicates: number;
  /** Duplicates whose content differs from the first one's. */
  conflicts: number;
  rejected: number;
  /** The first of them, as many as are kept. */
  rejectedRows: RejectedRow[];
  /** Offers that rejected rows were about: they stay as they were. */
  rejectedIds: Set<string>;
  /** The reason why an offer that this export lacks is not gone; null where it is. */
  incomplete: 'empty_export' | 'truncated_export' | 'unidentified_reject' | null;
  warnings: WarningCounts;
  /** Those that it names, as far as one may have a rate; other than USD. */
  currencies: Set<string>;
}

/** Settings for reading an export's records, and the records that need not be read. */
export interface ExportReading {
  offers: Omit<OfferReading, 'textCells' | 'onCurrency'>;
  readAsSha256: string;
  known: KnownRecords;
}

/**
 * Reads a catalog file's records. Throws what reading them throws. Undefined where the file says something else of an
 * offer after a known record of it: only reading that one, too, shows whether they differ, so without known ones.
 */
export async function readExport(
  file: NewFile,
  records: AsyncIterable<LandingRecord[]>,
  { offers: reading, readAsSha256, known }: ExportReading,
): Promise<CatalogExport | undefined> {
  const textCells = hasTextCells(file.format);
  const firsts = new Map<string, AcceptedRecord>();
  const catalog: CatalogExport = {
    file,
    readAsSha256,
    rows: 0,
    accepted: [],
    unchanged: new Set(),
    overruled: 0,
    duplicates: 0,
    conflicts: 0,
    rejected: 0,
    rejectedRows: [],
    rejectedIds: new Set(),
    incomplete: null,
    warnings: new WarningCounts(),
    currencies: new Set(),
  };
  catalog.warnings.addNullTexts(file.nullTexts, landingFieldNames);
  catalog.warnings.addMapped(file.mapped);
  const count = ({ currency, warnings = [] }: RecordRemarks) => {
    if (currency !== undefined && isCurrencyCode(currency)) catalog.currencies.add(currency);
    for (const warning of warnings) catalog.warnings.add(warning);
  };
  const remarksOf = parsedRemarks();
  let unidentified = false;
  let last: LandingRecord | undefined;
  /** Returns whether that was enough. */
  const passOver = (recordSha256: string): boolean => {
    const offer = known.get(recordSha256);
    // A second record is held against the first one.
    if (offer === undefined || firsts.has(offer.externalId)) return false;
    if (catalog.unchanged.has(offer.externalId)) catalog.duplicates++;
    else if (offer.remarks !== null) count(remarksOf(offer.remarks));
    catalog.unchanged.add(offer.externalId);
    return true;
  };
  /** Returns whether the record is one after a known one of the same offer. */
  const read = (record: LandingRecord, recordSha256: string): boolean => {
    let currency: string | undefined;
    const result = parseOfferRecord(record.text, { ...reading, textCells, onCurrency: (named) => (currency = named) });
    if ('reject' in result) {
      if (currency !== undefined) count({ currency });
      if (catalog.rejected++ < maxRejectsKept)
        catalog.rejectedRows.push({ ...keptRow(record), reason: reasonOf(file, record, result.reject) });
      if (result.externalId === null) unidentified = true;
      else catalog.rejectedIds.add(result.externalId);
      return false;
    }
    const { offer, warnings } = result;
    if (catalog.unchanged.has(offer.external_id)) return true;
    const first = firsts.get(offer.external_id);
    if (first !== undefined) {
      if (currency !== undefined) count({ currency });
      catalog.duplicates++;
      if (JSON.stringify(first.offer) !== JSON.stringify(offer)) catalog.conflicts++;
      return false;
    }
    const remarks = { ...(currency !== undefined && { currency }), ...(warnings.length > 0 && { warnings }) };
    const accepted = {
      offer,
      row: offer.id === null ? null : keptRow(record),
      recordSha256,
      remarks: remarksText(remarks),
    };
    firsts.set(offer.external_id, accepted);
    catalog.accepted.push(accepted);
    count(remarks);
    return false;
  };
  for await (const some of records) {
    for (const record of some) {
      const recordSha256 = hash('sha256', record.bytes, 'base64url');
      if (!passOver(recordSha256) && read(record, recordSha256)) return undefined;
    }
    catalog.rows += some.length;
    last = some.at(-1) ?? last;
  }
  catalog.incomplete = incompleteness(file, last, unidentified);
  return catalog;
}

/** A record of CSV that is no object is a row with too few or too many cells, or one whose line has no end. */
function reasonOf({ format, unterminatedRow }: NewFile, { line }: LandingRecord, reason: string): string {
  if (line === unterminatedRow) return 'unterminated_row';
  return format === 'csv' && reason === 'not_json_object' ? 'wrong_cell_count' : reason;
}

function keptRow({ line, raw }: LandingRecord): KeptRow {
  return { line, ...keptText(raw) };
}

/** A catalog's remarks are mostly the same few. */
function parsedRemarks(): (text: string) => RecordRemarks {
  const parsed = new Map<string, RecordRemarks>();
  return (text) => {
    let remarks = parsed.get(text);
    if (remarks === undefined) parsed.set(text, (remarks = JSON.parse(text) as RecordRemarks));
    return remarks;
  };
}

/** A last row that breaks off in the middle shows that the rows after it are missing too. */
function incompleteness(
  { unterminatedRow }: NewFile,
  last: LandingRecord | undefined,
  unidentified: boolean,
): CatalogExport['incomplete'] {
  if (last === undefined) return 'empty_export';
  if (unterminatedRow !== null || parseJson(last.text) === undefined) return 'truncated_export';
  return unidentified ? 'unidentified_reject' : null;
}
