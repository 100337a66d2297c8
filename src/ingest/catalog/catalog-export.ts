import type { CanonicalOffer } from '../../landing/catalog/canonical-offer.ts';
import { keptText, type KeptText } from '../../text/kept-text.ts';
import type { LandingRecord } from '../../landing/landing-file.ts';
import { parseOfferRecord, type OfferReading } from '../../landing/catalog/offer-record.ts';
import { parseJson } from '../../text/json-text.ts';
import { isCurrencyCode } from '../../config/settings.ts';
import { maxRejectsKept } from '../ledger/ledger.ts';
import type { NewFile } from '../ledger/read-again.ts';
import { WarningCounts } from '../ledger/warning-counts.ts';

/** A row of a catalog file, as much of it as is kept. */
export interface KeptRow extends KeptText {
  line: number;
}

export interface AcceptedRecord {
  offer: CanonicalOffer;
  /** Only of a row that brings an id, which may turn out to be another offer's: no other can be rejected any more. */
  row: KeptRow | null;
}

export interface RejectedRow extends KeptRow {
  reason: string;
}

/** A catalog file after reading and normalising, before it is held against the catalog. */
export interface CatalogExport {
  file: NewFile;
  rows: number;
  /** At most one for each `external_id`: the first. */
  accepted: AcceptedRecord[];
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
  /** Why the lack of an offer in this export does not mean that it is gone; null where it does. */
  incomplete: 'empty_export' | 'truncated_export' | 'unidentified_reject' | null;
  warnings: WarningCounts;
  /** Those that it names, as far as one may have a rate; other than USD. */
  currencies: Set<string>;
}

/** Reads a catalog file's records. Throws what reading them throws. */
export async function readExport(
  file: NewFile,
  records: AsyncIterable<LandingRecord[]>,
  reading: Omit<OfferReading, 'textCells' | 'onCurrency'>,
): Promise<CatalogExport> {
  const textCells = file.format === 'csv' || file.format === 'parquet';
  const firsts = new Map<string, AcceptedRecord>();
  const catalog: CatalogExport = {
    file,
    rows: 0,
    accepted: [],
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
  const onCurrency = (currency: string) => {
    if (isCurrencyCode(currency)) catalog.currencies.add(currency);
  };
  let unidentified = false;
  let last: LandingRecord | undefined;
  const read = (record: LandingRecord) => {
    const result = parseOfferRecord(record.raw, { ...reading, textCells, onCurrency });
    if ('reject' in result) {
      if (catalog.rejected++ < maxRejectsKept)
        catalog.rejectedRows.push({ ...keptRow(record), reason: reasonOf(file, record, result.reject) });
      if (result.externalId === null) unidentified = true;
      else catalog.rejectedIds.add(result.externalId);
      return;
    }
    const first = firsts.get(result.offer.external_id);
    if (first !== undefined) {
      catalog.duplicates++;
      if (JSON.stringify(first.offer) !== JSON.stringify(result.offer)) catalog.conflicts++;
      return;
    }
    const accepted = { offer: result.offer, row: result.offer.id === null ? null : keptRow(record) };
    firsts.set(result.offer.external_id, accepted);
    catalog.accepted.push(accepted);
    for (const warning of result.warnings) catalog.warnings.add(warning);
  };
  for await (const some of records) {
    for (const record of some) read(record);
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

/** A last row that breaks off in the middle shows that the rows after it are missing too. */
function incompleteness(
  { unterminatedRow }: NewFile,
  last: LandingRecord | undefined,
  unidentified: boolean,
): CatalogExport['incomplete'] {
  if (last === undefined) return 'empty_export';
  if (unterminatedRow !== null || parseJson(last.raw) === undefined) return 'truncated_export';
  return unidentified ? 'unidentified_reject' : null;
}
