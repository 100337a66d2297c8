import type { CanonicalOffer } from '../landing/canonical-offer.ts';
import type { CheckedFile, IngestWarning, LandingRecord } from '../landing/landing-file.ts';
import { parseOfferRecord, type OfferReading } from '../landing/offer-record.ts';
import { parseJson } from '../landing/json-text.ts';

export interface AcceptedRecord {
  record: LandingRecord;
  offer: CanonicalOffer;
}

export interface RejectedRecord {
  record: LandingRecord;
  reason: string;
}

/** A catalog file after reading and normalising, before it is held against the catalog. */
export interface CatalogExport {
  file: CheckedFile;
  rows: number;
  /** At most one for each `external_id`: the first. */
  accepted: AcceptedRecord[];
  duplicates: number;
  /** Duplicates that say something else than the first. */
  conflicts: number;
  rejected: RejectedRecord[];
  /** Offers that rejected rows were about: they stay as they were. */
  rejectedIds: Set<string>;
  /** Why the lack of an offer in this export does not mean that it is gone; null where it does. */
  incomplete: 'empty_export' | 'truncated_export' | 'unidentified_reject' | null;
  warnings: WarningCounts;
}

/** Rows by warning and field. */
export class WarningCounts {
  readonly #counts = new Map<string, IngestWarning & { rows: number }>();

  add(warning: IngestWarning): void {
    const key = `${warning.warning} ${warning.field ?? ''}`;
    const counted = this.#counts.get(key);
    if (counted === undefined) this.#counts.set(key, { ...warning, rows: 1 });
    else counted.rows++;
  }

  list(): (IngestWarning & { rows: number })[] {
    return [...this.#counts.values()];
  }

  /** An unknown field counts once per file, however many rows have it. */
  get total(): number {
    return this.list().reduce((sum, { warning, rows }) => sum + (warning === 'unknown_field' ? 1 : rows), 0);
  }
}

export function readExport(file: CheckedFile, records: readonly LandingRecord[], reading: Omit<OfferReading, 'textCells'>): CatalogExport {
  const textCells = file.format === 'csv' || file.format === 'parquet';
  const firsts = new Map<string, AcceptedRecord>();
  const catalog: CatalogExport = {
    file, rows: records.length, accepted: [], duplicates: 0, conflicts: 0, rejected: [], rejectedIds: new Set(),
    incomplete: null, warnings: new WarningCounts(),
  };
  let unidentified = false;
  for (const record of records) {
    const result = parseOfferRecord(record.raw, { ...reading, textCells });
    if ('reject' in result) {
      // A record of CSV that is no object is a row with too few or too many cells.
      const ragged = file.format === 'csv' && result.reject === 'not_json_object';
      catalog.rejected.push({ record, reason: ragged ? 'wrong_cell_count' : result.reject });
      if (result.externalId === null) unidentified = true;
      else catalog.rejectedIds.add(result.externalId);
      continue;
    }
    const first = firsts.get(result.offer.external_id);
    if (first !== undefined) {
      catalog.duplicates++;
      if (JSON.stringify(first.offer) !== JSON.stringify(result.offer)) catalog.conflicts++;
      continue;
    }
    const accepted = { record, offer: result.offer };
    firsts.set(result.offer.external_id, accepted);
    catalog.accepted.push(accepted);
    for (const warning of result.warnings) catalog.warnings.add(warning);
  }
  catalog.incomplete = incompleteness(records, unidentified);
  return catalog;
}

/** A last row that breaks off in the middle shows that the rows after it are missing too. */
function incompleteness(records: readonly LandingRecord[], unidentified: boolean): CatalogExport['incomplete'] {
  const last = records.at(-1);
  if (last === undefined) return 'empty_export';
  if (parseJson(last.raw) === undefined) return 'truncated_export';
  return unidentified ? 'unidentified_reject' : null;
}
