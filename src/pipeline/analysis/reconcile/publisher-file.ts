import { compileMapping } from '../../../kit/intake/mapping/compile-mapping.ts';
import { scalarText } from '../../../kit/intake/mapping/places.ts';
import { UsageError } from '../../../kit/errors/errors.ts';
import { rowRecord } from '../../../kit/intake/reading/row-record.ts';
import type { Amount } from '../../../kit/text/decimal-text.ts';
import { isJsonObject, JsonNumber, type JsonObject } from '../../../kit/text/json-text.ts';
import type { Moment } from '../../../kit/time/moment.ts';
import { AmountColumn, plainAmount, type ReadAmount } from './list-amounts.ts';
import { findColumns, headerScore, type ListColumns } from './list-columns.ts';
import { listFields, noListMapping, type ClaimedState, type ListField, type ListMapping } from './list-mapping.ts';
import { readListRecords, type ListRecord } from './list-records.ts';
import { stateOfWord } from './list-states.ts';
import { plainTime, TimeColumn, type ListTime } from './list-times.ts';
import { filledCells, isRemark, isTotal } from './passed-rows.ts';
import { UnreadableRowsError, type UnreadableRow } from './unreadable-rows.ts';

/** A reward: a row of a publisher's list. */
export interface PublisherReward {
  line: number;
  clickId: string;
  /** Absent without such a column, or where the cell is empty. */
  conversionId?: string;
  /** Never negative. */
  amount?: Amount;
  state: ClaimedState;
  time?: Moment;
}

/** A row that is no reward. */
export interface PassedRow {
  line: number;
  text: string;
}

interface PublisherList {
  /** The file's name of each known column. */
  columns: ListColumns;
  ignored: string[];
  /** Totals, remarks, and rows that the mapping passes over. */
  passedOver: PassedRow[];
  /** Notes on what was read in one way and might have been meant in another. */
  notes: string[];
  rewards: PublisherReward[];
}

/** Length of a cell of a known column. */
const maxCharacters = 1000;
const maxShownOfPassed = 200;

/**
 * Reads a publisher's list of rewards, in any format that landing reads. Throws `UsageError` naming the file,
 * `UnreadableRowsError` with every row that cannot be read.
 */
export async function readPublisherFile(file: string, mapping: ListMapping = noListMapping): Promise<PublisherList> {
  const mapped = mapping.fields?.fields ?? {};
  const places = new Map(
    listFields.flatMap((field) => (mapped[field] === undefined ? [] : [[field, mapped[field].at ?? []] as const])),
  );
  const list = await readListRecords(file, mapping.format, (cells) => headerScore(cells, places));
  const names = list.columns ?? namesIn(list.records);
  const rows = new ListRows(list.records, list.columns, mapping);
  const found = findColumns(names, (name) => rows.textsAt(name));
  const columns = { ...found, ...namesOfPlaces(mapped) };
  const word = list.format === 'xlsx' ? 'row' : list.format === 'csv' || list.format === 'ndjson' ? 'line' : 'record';
  if (columns.click_id === undefined && mapped['click_id'] === undefined)
    throw new UsageError(
      `${file} ${word} ${Math.max(1, list.header)}: no column is named click_id; the header row says ${names.join(', ') || 'nothing'}. Name the column so, or say by --mapping which one it is`,
    );
  const { rewards, unreadable, notes } = rows.rewards(found);
  if (unreadable.length > 0) throw new UnreadableRowsError(file, word, unreadable);
  const used = new Set([...Object.values(found), ...[...places.values()].flat()]);
  const ignored = names.filter((name) => ![...used].some((place) => place === name || place.startsWith(`${name}.`)));
  return { columns, ignored, passedOver: rows.passedOver, notes, rewards };
}

/** Returns the names of all records of a list without a header. */
function namesIn(records: readonly ListRecord[]): string[] {
  return [...new Set(records.flatMap(({ value }) => (isJsonObject(value) ? Object.keys(value) : [])))];
}

function namesOfPlaces(mapped: Readonly<Record<string, { at?: readonly string[] | undefined }>>): ListColumns {
  return Object.fromEntries(Object.entries(mapped).map(([field, { at }]) => [field, at?.join(' or ') ?? 'a constant']));
}

/** Value of a field as it is written. */
interface FieldText {
  text: string;
  /** It is written as ours are: by a number of JSON, or by a rule of the mapping. */
  isOurs: boolean;
}

type FieldTexts = Record<ListField, FieldText>;

/** Rows of a list, before their columns are known. */
class ListRows {
  readonly passedOver: PassedRow[] = [];
  readonly #unreadable: UnreadableRow[] = [];
  readonly #rows: { line: number; text: string; record: JsonObject; mapped: JsonObject }[] = [];
  readonly #mapping: ListMapping;

  constructor(records: readonly ListRecord[], columns: readonly string[] | null, mapping: ListMapping) {
    this.#mapping = mapping;
    const { rows, fields = { fields: {}, events: undefined } } = mapping;
    const compiled = compileMapping({ rows, fields }, 'conversions');
    for (const { line, value, text } of records) {
      const record = Array.isArray(value) && columns !== null ? rowRecord(value, columns) : value;
      if (!isJsonObject(record)) {
        const reason =
          columns === null
            ? 'it is no JSON object'
            : `it has ${(value as unknown[]).length} cells, the header has ${columns.length}`;
        this.#unreadable.push({ line, reason });
        continue;
      }
      if (filledCells(record).length === 0 && columns !== null) continue;
      const read = compiled.map(record);
      if ('passedOver' in read) this.#pass(line, text);
      else if (read.fault !== undefined)
        this.#unreadable.push({ line, reason: `"${read.fault.place}" ${read.fault.problem}` });
      else this.#rows.push({ line, text, record, mapped: read.record });
    }
  }

  *textsAt(name: string): Generator<string> {
    for (const { record } of this.#rows) yield scalarText(record[name]) ?? '';
  }

  rewards(columns: ListColumns): { rewards: PublisherReward[]; unreadable: UnreadableRow[]; notes: string[] } {
    const rows = this.#withoutTotals(columns);
    // Cells that are too long are faults of their rows; patterns would take minutes over the blanks of one.
    const foreign = (field: ListField) =>
      rows
        .map(({ texts }) => texts[field])
        .filter(({ text, isOurs }) => !isOurs && text !== '' && text.length <= maxCharacters)
        .map(({ text }) => text);
    const nameOf = (field: ListField) => this.#mapping.fields?.fields[field]?.at?.[0] ?? columns[field] ?? field;
    const amounts = new AmountColumn(nameOf('reward'), foreign('reward'));
    const times = new TimeColumn(nameOf('time'), foreign('time'));
    const rewards: PublisherReward[] = [];
    for (const { line, texts } of rows) {
      const read = readReward(line, texts, { amounts, times, nameOf });
      if (typeof read === 'object') rewards.push(read);
      else this.#unreadable.push({ line, reason: read });
    }
    const unreadable = this.#unreadable.toSorted((one, other) => one.line - other.line);
    return { rewards, unreadable, notes: amounts.notes };
  }

  /** Passes over totals, and below the last reward remarks and rows without an id. */
  #withoutTotals(columns: ListColumns): { line: number; texts: FieldTexts }[] {
    const rows = this.#rows.map((row) => ({ ...row, texts: this.#textsOf(row, columns) }));
    type Row = (typeof rows)[number];
    const isNoReward = ({ record, texts }: Row) => isTotal(texts.click_id.text, record);
    const isBelow = (row: Row) =>
      isNoReward(row) ||
      isRemark(row.texts.click_id.text, row.record) ||
      (['click_id', 'conversion_id', 'state', 'time'] as const).every((field) => row.texts[field].text === '');
    const last = rows.findLastIndex((row) => !isBelow(row));
    return rows.filter((row, index) => {
      const isPassed = last !== -1 && (index > last ? isBelow(row) : isNoReward(row));
      if (isPassed) this.#pass(row.line, row.text);
      return !isPassed;
    });
  }

  #textsOf({ record, mapped }: { record: JsonObject; mapped: JsonObject }, columns: ListColumns): FieldTexts {
    const rules = this.#mapping.fields?.fields ?? {};
    const read = (field: ListField): FieldText => {
      const rule = rules[field];
      const column = columns[field];
      const value = rule === undefined ? (column === undefined ? undefined : record[column]) : mapped[field];
      const isRead = rule !== undefined && (rule.number ?? rule.time ?? rule.zone ?? rule.value) !== undefined;
      return { text: scalarText(value)?.trim() ?? '', isOurs: isRead || value instanceof JsonNumber };
    };
    return Object.fromEntries(listFields.map((field) => [field, read(field)])) as FieldTexts;
  }

  #pass(line: number, text: string): void {
    this.passedOver.push({ line, text: text.slice(0, maxShownOfPassed) });
  }
}

interface ColumnReaders {
  amounts: AmountColumn;
  times: TimeColumn;
  nameOf: (field: ListField) => string;
}

/** Returns the reward, or the mistake in the row. */
function readReward(
  line: number,
  texts: FieldTexts,
  { amounts, times, nameOf }: ColumnReaders,
): PublisherReward | string {
  const giant = listFields.find((field) => texts[field].text.length > maxCharacters);
  if (giant !== undefined)
    return `the cell of "${nameOf(giant)}" has ${texts[giant].text.length} characters; at most ${maxCharacters} are read`;
  const { click_id: click, conversion_id: conversion, reward, state: word, time: moment } = texts;
  if (click.text === '') return 'the click id is empty';
  const read = valueOf<ReadAmount>(reward, plainAmount, amounts);
  if (read !== undefined && 'mistake' in read) return read.mistake;
  const amount = read?.amount;
  const state = stateOfWord(word.text);
  if (state === undefined)
    return `the state "${word.text}" is none of credited, pending, rejected, charged_back, nor a usual word for one; say what it means by --mapping: ${JSON.stringify({ fields: { state: { at: nameOf('state'), words: { [word.text]: 'credited' } } } })}`;
  const when = valueOf<ListTime>(moment, plainTime, times);
  if (when !== undefined && 'mistake' in when) return when.mistake;
  return {
    line,
    clickId: click.text,
    ...(conversion.text === '' ? {} : { conversionId: conversion.text }),
    ...(amount === undefined ? {} : { amount: amount < 0n ? -amount : amount }),
    // Some lists write a reversal as a negative amount.
    state: amount !== undefined && amount < 0n && state === 'credited' ? 'charged_back' : state,
    ...(when === undefined ? {} : { time: when.time }),
  };
}

/** Reads a value as ours are written, or as its column is; undefined where there is none. */
function valueOf<Read>(
  { text, isOurs }: FieldText,
  readOurs: (text: string) => Read,
  column: { read: (text: string) => Read },
): Read | undefined {
  if (text === '') return undefined;
  return isOurs ? readOurs(text) : column.read(text);
}
