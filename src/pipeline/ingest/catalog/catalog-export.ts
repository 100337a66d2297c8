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
 * Reads a catalog file's records, which `records` gives from the first on. Throws what reading them throws. Where the
 * file says something else of an offer after a known record of it, only reading that one, too, shows whether they
 * differ: then all are read.
 */
export async function readExport(
  file: NewFile,
  records: () => AsyncIterable<LandingRecord[]>,
  reading: ExportReading,
): Promise<CatalogExport> {
  const reader = new ExportReader(file, reading);
  if (await reader.read(records())) return reader.catalog;
  const readerOfAll = new ExportReader(file, { ...reading, known: new Map() });
  await readerOfAll.read(records());
  return readerOfAll.catalog;
}

class ExportReader {
  readonly catalog: CatalogExport;
  readonly #offers: Omit<OfferReading, 'onCurrency'>;
  readonly #known: KnownRecords;
  /** The first accepted record of each offer. */
  readonly #firsts = new Map<string, AcceptedRecord>();
  readonly #parseRemarks = remarksParser();
  #hasUnidentifiedReject = false;

  constructor(file: NewFile, { offers, readAsSha256, known }: ExportReading) {
    this.#offers = { ...offers, textCells: hasTextCells(file.format) };
    this.#known = known;
    this.catalog = {
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
    this.catalog.warnings.addNullTexts(file.nullTexts, landingFieldNames);
    this.catalog.warnings.addMapped(file.mapped);
  }

  /** Returns false where a record has to be held against a known one, which was not read. */
  async read(records: AsyncIterable<LandingRecord[]>): Promise<boolean> {
    let last: LandingRecord | undefined;
    for await (const some of records) {
      for (const record of some) {
        const recordSha256 = hash('sha256', record.bytes, 'base64url');
        if (!this.#passOver(recordSha256) && !this.#readRecord(record, recordSha256)) return false;
      }
      this.catalog.rows += some.length;
      last = some.at(-1) ?? last;
    }
    this.catalog.incomplete = incompleteness(this.catalog.file, last, this.#hasUnidentifiedReject);
    return true;
  }

  /** Counts a known record without reading it. Returns whether it could. */
  #passOver(recordSha256: string): boolean {
    const { unchanged } = this.catalog;
    const offer = this.#known.get(recordSha256);
    // A second record is held against the first one.
    if (offer === undefined || this.#firsts.has(offer.externalId)) return false;
    if (unchanged.has(offer.externalId)) this.catalog.duplicates++;
    else if (offer.remarks !== null) this.#count(this.#parseRemarks(offer.remarks));
    unchanged.add(offer.externalId);
    return true;
  }

  /** Returns false for a record after a known one of the same offer. */
  #readRecord(record: LandingRecord, recordSha256: string): boolean {
    let currency: string | undefined;
    const result = parseOfferRecord(record.text, { ...this.#offers, onCurrency: (named) => (currency = named) });
    const ofCurrency: RecordRemarks = currency === undefined ? {} : { currency };
    if ('reject' in result) {
      this.#count(ofCurrency);
      this.#reject(record, result);
      return true;
    }
    const { offer, warnings } = result;
    if (this.catalog.unchanged.has(offer.external_id)) return false;
    const first = this.#firsts.get(offer.external_id);
    if (first === undefined) {
      const remarks = { ...ofCurrency, ...(warnings.length > 0 && { warnings }) };
      this.#count(remarks);
      const row = offer.id === null ? null : keptRow(record);
      this.#accept({ offer, row, recordSha256, remarks: remarksText(remarks) });
    } else {
      this.#count(ofCurrency);
      this.catalog.duplicates++;
      if (JSON.stringify(first.offer) !== JSON.stringify(offer)) this.catalog.conflicts++;
    }
    return true;
  }

  #accept(accepted: AcceptedRecord): void {
    this.#firsts.set(accepted.offer.external_id, accepted);
    this.catalog.accepted.push(accepted);
  }

  #reject(record: LandingRecord, { reject, externalId }: { reject: string; externalId: string | null }): void {
    const { file, rejectedRows, rejectedIds } = this.catalog;
    if (this.catalog.rejected++ < maxRejectsKept)
      rejectedRows.push({ ...keptRow(record), reason: reasonOf(file, record, reject) });
    if (externalId === null) this.#hasUnidentifiedReject = true;
    else rejectedIds.add(externalId);
  }

  #count({ currency, warnings = [] }: RecordRemarks): void {
    if (currency !== undefined && isCurrencyCode(currency)) this.catalog.currencies.add(currency);
    for (const warning of warnings) this.catalog.warnings.add(warning);
  }
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
function remarksParser(): (text: string) => RecordRemarks {
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
  hasUnidentifiedReject: boolean,
): CatalogExport['incomplete'] {
  if (last === undefined) return 'empty_export';
  if (unterminatedRow !== null || parseJson(last.text) === undefined) return 'truncated_export';
  return hasUnidentifiedReject ? 'unidentified_reject' : null;
}
