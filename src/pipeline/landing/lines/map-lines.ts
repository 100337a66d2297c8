import { listedAmount } from '../../../sources/conversions/emitted-conversions.ts';
import {
  absentColumns,
  absentPlaces,
  placesOfMapping,
  type AbsentColumns,
} from '../../../kit/intake/mapping/absent-columns.ts';
import { compileMapping, type CompiledMapping } from '../../../kit/intake/mapping/compile-mapping.ts';
import { placesOfField, type FieldMapping } from '../../../kit/intake/mapping/field-schema.ts';
import type { FileMapping } from '../../../kit/intake/mapping/mapping-schema.ts';
import type { RecordNames } from '../../../kit/intake/reading/json-shape.ts';
import { maxLineBytes, UnusableFile } from '../../../kit/intake/reading/record-sink.ts';
import { amountInUsd, parseMoney } from '../../../kit/text/decimal-text.ts';
import { duplicateKey, isJsonObject, parseJson, type JsonObject, type JsonValue } from '../../../kit/text/json-text.ts';
import { hasPlace, keysAbove, scalarText } from '../../../kit/intake/mapping/places.ts';
import { recordsOf } from '../catalog/catalog-records.ts';
import type { FileLines, MappedFacts } from '../landing-file.ts';
import { LineFile } from './line-file.ts';
import { mappedLine, rejectKey } from './mapped-line.ts';

/** How the records of a file are read where they are not ours. */
export interface LandingMapping {
  mapping: FileMapping;
  /** USD for one unit of a currency, by ISO 4217 code: amounts of conversions come out in USD. */
  rates: Readonly<Record<string, string>>;
  /** Each line has the record as it lay there, also where that takes longer. */
  keepsRecords?: boolean;
  /** Names by which the records are recognized, where they are not those that the mapping reads. */
  names?: RecordNames | undefined;
}

/** Maps records of lines, and counts what it did. */
export class LineMapper {
  #passedOver = 0;
  readonly #warnings = new Map<string, number>();
  /** What a table lacks; undefined of records that have names of their own. */
  readonly #absent: readonly AbsentColumns[] | undefined;
  /** Places that the mapping reads and no record had so far. */
  readonly #unseen: Set<string>;
  #hasRecords = false;
  readonly #landing: LandingMapping;
  readonly #compiled: CompiledMapping;
  readonly #names: Set<string> | undefined;
  readonly #finish: FinishRecord;

  /** Columns: those of a table. */
  constructor(landing: LandingMapping, columns: readonly string[] | null = null) {
    const { mapping } = landing;
    const absent = absentIn(mapping, columns);
    this.#landing = landing;
    this.#absent = columns === null ? undefined : absent;
    this.#unseen = new Set(columns === null ? placesOfMapping(mapping) : []);
    this.#compiled = compileMapping(columns === null ? mapping : mappingOfTable(mapping, absent), mapping.kind);
    this.#names = namesReadBy(mapping);
    this.#finish = recordFinisher(landing, absent);
  }

  get facts(): MappedFacts {
    const absent = this.#absent ?? (this.#hasRecords ? placesNotIn(this.#landing.mapping, this.#unseen) : []);
    return { passedOver: this.#passedOver, warnings: this.#warnings, absent };
  }

  /** Returns a record in our fields; blank where the mapping passes it over, and as it is where it is no record. */
  map(text: string): string {
    const record = parseJson(text);
    // DuckDB parses what is nested deeper than our parser takes, and would read it by our names.
    if (record === undefined && this.#landing.mapping.kind !== 'offers')
      return mappedLine(text, { [rejectKey]: 'not_json_object' });
    if (!isJsonObject(record)) return text;
    this.#hasRecords = true;
    for (const place of this.#unseen) if (hasPlace(record, place)) this.#unseen.delete(place);
    const mapped = this.#compiled.map(record);
    if ('passedOver' in mapped) {
      this.#passedOver++;
      return '';
    }
    const warnings = this.#warnings;
    for (const warning of mapped.warnings) warnings.set(warning, (warnings.get(warning) ?? 0) + 1);
    // The parser keeps the last value, and nobody knows which one counts; of what is not read it does not matter.
    if (duplicateKey(text, record, (name) => this.#names?.has(name) ?? true) !== undefined)
      return mappedLine(text, { ...mapped.record, [rejectKey]: 'duplicate_key' });
    return mappedLine(text, this.#finish(mapped.record));
  }
}

/**
 * Returns the names of a record that the texts of a mapping may begin with: whatever it reads is under one of them.
 * Undefined where it reads the whole record.
 */
function namesReadBy({ fields, rows }: FileMapping): Set<string> | undefined {
  const texts = fields === undefined ? [''] : textsIn([fields, rows]);
  return texts.includes('') ? undefined : new Set(texts.flatMap(keysAbove));
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/**
 * Writes a file's records in our fields to `target`, each in its own line, which is blank where the mapping passes the
 * record over: so the others keep their numbers. A row that is no record stays as it is, and landing rejects it.
 */
export async function mapLines(
  file: FileLines,
  landing: LandingMapping,
  target: string,
): Promise<{ lines: Pick<FileLines, 'readablePath' | 'columns' | 'nullTexts' | 'mapped'>; longest: number }> {
  const mapper = new LineMapper(landing, file.columns);
  const lines = new LineFile(target);
  let next = file.firstRow;
  try {
    for await (const records of recordsOf(file)) {
      for (const { line, text } of records) {
        for (; next < line; next++) lines.endLine();
        lines.bytes(Buffer.from(mapper.map(text)));
        lines.endLine();
        next++;
      }
    }
    lines.finish();
  } finally {
    lines.close();
  }
  assertLineLength(lines);
  return {
    lines: {
      readablePath: target,
      columns: null,
      nullTexts: nullTextsIn(landing.mapping, file.nullTexts),
      mapped: mapper.facts,
    },
    longest: lines.longest,
  };
}

/** What a mapping reads of a table that has no column for it. */
export function absentIn(mapping: FileMapping, columns: readonly string[] | null): AbsentColumns[] {
  return columns === null ? [] : absentColumns(mapping, columns);
}

/** Fields of conversions that say something else where they are absent. The records of logs leave out much else. */
const noticedOfLogs = ['rows', 'payout', 'currency'];

/** Returns what a mapping reads and no record of a file has a place for. */
function placesNotIn(mapping: FileMapping, unseen: ReadonlySet<string>): AbsentColumns[] {
  return absentPlaces(mapping, (place) => !unseen.has(place))
    .filter(({ field }) => mapping.kind === 'offers' || noticedOfLogs.includes(field))
    .map((absent) => ({ ...absent, decide: false }));
}

/** Reason of rows that may not count since the table lacks a column. */
const noColumn = 'no_column';

/** Returns whether all rows of a table are refused; without a currency a conversion that has no amount counts. */
export function refusesRows({ kind }: FileMapping, absent: readonly AbsentColumns[]): boolean {
  return absent.some(({ field, decide }) => decide && !(kind === 'conversions' && field === 'currency'));
}

/**
 * Returns a mapping as it reads a table: rows that are refused are not passed over for lack of a column, and the click
 * that a conversion names has no blanks around its id. Ids that make a record one stay as they are written: under
 * another one a conversion that counts already would count again.
 */
export function mappingOfTable(mapping: FileMapping, absent: readonly AbsentColumns[]): FileMapping {
  const { kind, rows, fields } = mapping;
  const click = kind === 'conversions' ? fields?.fields['click_id'] : undefined;
  return {
    ...mapping,
    rows: refusesRows(mapping, absent) ? undefined : rows,
    fields: fields && click ? { ...fields, fields: { ...fields.fields, click_id: trimmed(click) } } : fields,
  };
}

function trimmed(field: FieldMapping): FieldMapping {
  return { ...field, trim: true, else: field.else?.map((each) => ({ ...each, trim: true })) };
}

/** Returns the number of cells with a bare NULL by the field of ours that reads their column. */
export function nullTextsIn({ fields }: FileMapping, ofColumns: FileLines['nullTexts']): FileLines['nullTexts'] {
  if (fields === undefined || ofColumns.size === 0) return ofColumns;
  const rowsOf = (field: FieldMapping) => {
    const places = new Set(placesOfField(field));
    return [...places].reduce((sum, place) => sum + (ofColumns.get(place) ?? 0), 0);
  };
  const counts = Object.entries(fields.fields).map(([name, field]) => [name, rowsOf(field)] as const);
  return new Map(counts.filter(([, rows]) => rows > 0));
}

/** Throws `UnusableFile` where a mapping made a record of more bytes than a line may have. */
export function assertLineLength({ longest }: LineFile): void {
  if (longest > maxLineBytes)
    throw new UnusableFile({ reason: 'line_too_long', detail: `a mapped record has more than ${maxLineBytes} bytes` });
}

/** Amounts of conversions have a currency; a column of ours that no mapping reads is an unknown one. */
export function hasCurrency({ kind, fields }: Pick<FileMapping, 'kind' | 'fields'>): boolean {
  return kind === 'conversions' && fields?.fields['currency'] !== undefined;
}

/** Rows of the file say how conversions stand, in place of events. */
export function isState({ kind, fields }: FileMapping): boolean {
  return kind === 'conversions' && fields?.fields['status'] !== undefined;
}

/** Member of a mapped row of state with the amount before it was converted. */
export const listedKey = 'listed';

/** Makes a record that a mapping read one that landing takes, or refuses. */
type FinishRecord = (record: JsonObject) => JsonObject;

/** Makes a mapping's last step: amounts of conversions come out in USD, and what a table lacks refuses its rows. */
export function recordFinisher(landing: LandingMapping, absent: readonly AbsentColumns[]): FinishRecord {
  const { mapping } = landing;
  const lacksCurrency = absent.some(({ field }) => field === 'currency');
  const finish: FinishRecord = !hasCurrency(mapping)
    ? (record) => record
    : lacksCurrency
      ? ofUnknownMoney
      : (record) => inUsd(record, landing);
  return refusesRows(mapping, absent) ? (record) => ({ ...finish(record), [rejectKey]: noColumn }) : finish;
}

/** Returns a conversion from a table without the column of its currency: an amount could be in any. */
function ofUnknownMoney(mapped: JsonObject): JsonObject {
  const { currency: _, ...record } = mapped;
  return scalarText(record['payout']) === undefined ? record : { ...record, [rejectKey]: noColumn };
}

/**
 * Returns a conversion with its amount in USD, of which alone a log knows; refused where the currency has no rate. A
 * row of state keeps the amount before, too.
 */
function inUsd({ currency, ...record }: JsonObject, { mapping, rates }: LandingMapping): Record<string, JsonValue> {
  const code = scalarText(currency)?.trim().toUpperCase() ?? 'USD';
  const payout = scalarText(record['payout']);
  const amount = payout === undefined || code === 'USD' ? undefined : parseMoney(payout);
  // What is no amount is refused by its own rule.
  if (amount === undefined) return record;
  const converted = amountInUsd(amount, code, rates);
  if ('fault' in converted) return { ...record, [rejectKey]: converted.fault };
  const listed = isState(mapping) ? { [listedKey]: listedAmount(amount, code) } : {};
  return { ...record, payout: converted.usd, ...listed };
}
