import type { AbsentColumns } from '../../../kit/intake/mapping/absent-columns.ts';
import { foundValueConverter } from '../../../kit/intake/mapping/compile-field.ts';
import { compileMapping, type CompiledMapping } from '../../../kit/intake/mapping/compile-mapping.ts';
import { isAbsent } from '../../../kit/intake/mapping/convert-value.ts';
import type { FieldMapping } from '../../../kit/intake/mapping/field-schema.ts';
import type { FileMapping } from '../../../kit/intake/mapping/mapping-schema.ts';
import { Reading } from '../../../kit/intake/mapping/reading.ts';
import type { TableRow, TableRows } from '../../../kit/intake/reading/csv-records.ts';
import type { RecordSink } from '../../../kit/intake/reading/record-sink.ts';
import { jsonText, type JsonObject, type JsonValue } from '../../../kit/text/json-text.ts';
import { absentIn, mappingOfTable, recordFinisher, refusesRows, type LandingMapping } from './map-lines.ts';
import { recordNamesOf } from './record-names.ts';

/** A part of a mapping that reads some cells of a row, whatever the others hold. */
interface Part {
  begin(columns: readonly string[]): void;
  /** False where the row is passed over. */
  take(row: TableRow): boolean;
  /** Writes members of the row that was taken, `before` each; false where there are none. */
  write(row: TableRow, lines: RecordSink, before: number): boolean;
}

/**
 * Maps the rows of a log's table while they come apart. The records are those of `mapLines`, but have not the row as it
 * lay there: that of a reject is read again.
 */
export class MappedTable implements TableRows {
  passedOver = 0;
  /** What the table lacks. */
  absent: readonly AbsentColumns[] = [];
  readonly #landing: LandingMapping;
  #parts: readonly Part[] = [];

  constructor(landing: LandingMapping) {
    this.#landing = landing;
  }

  /** True for a mapping of which each field needs a few cells; lists and milestones are read record by record. */
  static canMap({ mapping: { kind, fields, rows = [] }, keepsRecords }: LandingMapping): boolean {
    if (kind === 'offers' || fields === undefined || keepsRecords === true) return false;
    const read = Object.values(fields.fields);
    const places = [...read.flatMap(({ at }) => at ?? []), ...rows.map(({ at }) => at)];
    return !places.includes('') && read.every((field) => isOfOneCell(field));
  }

  begin(columns: readonly string[]): void {
    this.absent = absentIn(this.#landing.mapping, columns);
    this.#parts = partsOf(this.#landing, this.absent);
    for (const part of this.#parts) part.begin(columns);
  }

  write(row: TableRow, lines: RecordSink): void {
    for (const part of this.#parts) {
      if (part.take(row)) continue;
      this.passedOver++;
      return;
    }
    let before = openingBrace;
    for (const part of this.#parts) if (part.write(row, lines, before)) before = comma;
    if (before === openingBrace) lines.byte(openingBrace);
    lines.byte(closingBrace);
  }
}

function partsOf(landing: LandingMapping, absent: readonly AbsentColumns[]): Part[] {
  const mapping = mappingOfTable(landing.mapping, absent);
  const { kind, rows = [], fields: says } = mapping;
  const fields = says?.fields ?? {};
  const parts: Part[] = [];
  if (rows.length > 0)
    parts.push(
      new ReadCells(
        rows.map(({ at }) => at),
        compileMapping({ rows }, kind),
        () => ({}),
      ),
    );
  const { payout, currency } = fields;
  const inOtherMoney = currency === undefined ? undefined : { ...(payout && { payout }), currency };
  for (const [name, field] of inOrder(mapping)) {
    if (inOtherMoney !== undefined && name in inOtherMoney) continue;
    parts.push(isCopied(field) ? new CopiedCell(name, field) : new ConvertedCell(name, field));
  }
  if (inOtherMoney !== undefined || refusesRows(mapping, absent))
    parts.push(
      new ReadCells(
        [...(inOtherMoney?.payout?.at ?? []), ...(inOtherMoney?.currency.at ?? [])],
        compileMapping({ fields: { fields: inOtherMoney ?? {}, events: undefined } }, kind),
        recordFinisher(landing, absent),
      ),
    );
  return parts;
}

const [quote, comma, openingBrace, closingBrace, backslash, space] = [0x22, 0x2c, 0x7b, 0x7d, 0x5c, 0x20];
const [zero, nine, decimalPoint] = [0x30, 0x39, 0x2e];

/** The mapped fields in landing's order: lines in that order are the quickest to read. */
function inOrder({ kind, fields }: FileMapping): [name: string, field: FieldMapping][] {
  const order = recordNamesOf(kind).fields;
  const place = (name: string) => (order.includes(name) ? order.indexOf(name) : order.length);
  return Object.entries(fields?.fields ?? {}).toSorted(([one], [other]) => place(one) - place(other));
}

/** True for a field that is made of the first cell with a value, whatever the others hold. */
function isOfOneCell({ at = [], each, split, lowest, first, join, when, none, else: other }: FieldMapping): boolean {
  return (
    (each ?? split ?? lowest ?? first ?? join ?? when ?? other) === undefined && (none === undefined || at.length < 2)
  );
}

/** True for a field whose value is what is at its place. */
function isCopied(field: FieldMapping): boolean {
  return field.at !== undefined && Object.values(field).filter((rule) => rule !== undefined).length === 1;
}

/** Fields that most writers write without quotes: landing reads these the quickest. */
const numbers = ['offer_id', 'payout'];

/** A field that is the first of some cells that has a value. */
class CopiedCell implements Part {
  readonly #places: readonly string[];
  readonly #key: Buffer;
  readonly #isNumber: boolean;
  #columns: readonly number[] = [];
  #column: number | undefined;

  constructor(name: string, { at = [] }: FieldMapping) {
    this.#places = at;
    this.#key = Buffer.from(`${JSON.stringify(name)}:`);
    this.#isNumber = numbers.includes(name);
  }

  begin(columns: readonly string[]): void {
    this.#columns = columnsOf(this.#places, columns);
  }

  take(row: TableRow): boolean {
    this.#column = firstWithValue(row, this.#columns);
    return true;
  }

  write({ bytes, starts, ends }: TableRow, lines: RecordSink, before: number): boolean {
    if (this.#column === undefined) return false;
    const [start, end] = [starts[this.#column] as number, ends[this.#column] as number];
    const isBare = this.#isNumber && isPlainNumber(bytes, start, end);
    lines.byte(before);
    lines.bytes(this.#key);
    if (!isBare) lines.byte(quote);
    lines.bytes(bytes, start, end);
    if (!isBare) lines.byte(quote);
    return true;
  }
}

/** In place of members: the mapping passes the row over. */
const passedOver = Buffer.alloc(0);

/** Texts that are remembered of a part, and the length up to which they are. */
const [maxKnown, maxKnownLength] = [256, 200];

/** What a mapping makes of cells, by their texts: most columns hold few, and a log has its times in order. */
class KnownMembers {
  readonly #known = new Map<string, Buffer>();

  of(text: string, read: (text: string) => Buffer): Buffer {
    let members = this.#known.get(text);
    if (members === undefined) {
      members = read(text);
      if (this.#known.size >= maxKnown) this.#known.clear();
      if (text.length <= maxKnownLength) this.#known.set(text, members);
    }
    return members;
  }
}

/** A field that the mapping makes of the first of some cells that has a value. */
class ConvertedCell implements Part {
  readonly #places: readonly string[];
  readonly #known = new KnownMembers();
  readonly #read: (text: string) => Buffer;
  #columns: readonly number[] = [];
  #members: Buffer = passedOver;

  constructor(name: string, field: FieldMapping) {
    this.#places = field.at ?? [];
    const key = `${JSON.stringify(name)}:`;
    const read = foundValueConverter(name, field);
    this.#read = (text) => {
      const reading = new Reading();
      const value = read(cellOf(text), reading, '');
      if (reading.isPassedOver) return passedOver;
      return value === undefined ? nothing : Buffer.from(key + jsonText(value));
    };
  }

  begin(columns: readonly string[]): void {
    this.#columns = columnsOf(this.#places, columns);
  }

  take(row: TableRow): boolean {
    const column = firstWithValue(row, this.#columns);
    this.#members = this.#known.of(column === undefined ? '' : textOf(row, column), this.#read);
    return this.#members !== passedOver;
  }

  write(_row: TableRow, lines: RecordSink, before: number): boolean {
    return writeMembers(this.#members, lines, before);
  }
}

/** Conditions, or fields that belong together, which the mapping reads in a record of their cells. */
class ReadCells implements Part {
  readonly #places: readonly string[];
  readonly #compiled: CompiledMapping;
  readonly #finish: (record: JsonObject) => JsonObject;
  readonly #known = new KnownMembers();
  #names: readonly string[] = [];
  #columns: readonly number[] = [];
  #members: Buffer = passedOver;

  constructor(places: readonly string[], compiled: CompiledMapping, finish: (record: JsonObject) => JsonObject) {
    this.#places = places;
    this.#compiled = compiled;
    this.#finish = finish;
  }

  begin(columns: readonly string[]): void {
    this.#columns = columnsOf(this.#places, columns);
    this.#names = this.#columns.map((column) => columns[column] as string);
  }

  take(row: TableRow): boolean {
    // No line feed is within a cell: it is written with a backslash.
    const texts = this.#columns.map((column) => textOf(row, column)).join('\n');
    this.#members = this.#known.of(texts, () => this.#read(texts.split('\n')));
    return this.#members !== passedOver;
  }

  write(_row: TableRow, lines: RecordSink, before: number): boolean {
    return writeMembers(this.#members, lines, before);
  }

  #read(texts: readonly string[]): Buffer {
    const cells = this.#names.map((name, index) => [name, cellOf(texts[index] ?? '')] as const);
    const mapped = this.#compiled.map(Object.fromEntries(cells));
    if ('passedOver' in mapped) return passedOver;
    return Buffer.from(jsonText(this.#finish(mapped.record)).slice(1, -1));
  }
}

const nothing = Buffer.alloc(0);

function writeMembers(members: Buffer, lines: RecordSink, before: number): boolean {
  if (members.length === 0) return false;
  lines.byte(before);
  lines.bytes(members);
  return true;
}

function columnsOf(places: readonly string[], columns: readonly string[]): number[] {
  return [...new Set(places)].map((place) => columns.indexOf(place)).filter((column) => column >= 0);
}

function firstWithValue(row: TableRow, columns: readonly number[]): number | undefined {
  for (const column of columns) if (hasValue(row, column)) return column;
  return undefined;
}

function hasValue(row: TableRow, column: number): boolean {
  const [start, end] = [row.starts[column] as number, row.ends[column] as number];
  if (start === end) return false;
  const first = row.bytes[start] as number;
  return (first > space && first < 0x80 && first !== backslash) || !isAbsent(cellOf(textOf(row, column)));
}

/** True for digits that JSON takes for a number, with decimals or without. */
function isPlainNumber(bytes: Buffer, start: number, end: number): boolean {
  let point = end;
  for (let at = start; at < end; at++) {
    const byte = bytes[at] as number;
    if (byte === decimalPoint && point === end && at > start && at < end - 1) point = at;
    else if (byte < zero || byte > nine) return false;
  }
  return end - start <= 18 && (bytes[start] !== zero || point === start + 1);
}

/** The inside of a cell's JSON string, a character for each byte. */
function textOf({ bytes, starts, ends }: TableRow, column: number): string {
  return bytes.toString('latin1', starts[column], ends[column]);
}

const asItIs = /^[ !#-[\]-~]*$/;

function cellOf(text: string): JsonValue {
  if (text === '') return null;
  return asItIs.test(text) ? text : (JSON.parse(`"${Buffer.from(text, 'latin1').toString()}"`) as string);
}
