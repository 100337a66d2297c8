import type { RecordsPlace } from './json-records.ts';

/** Names by which records of a kind are recognized. */
export interface RecordNames {
  /** Names that only a record has: an object that holds one is a record, whatever else it holds. */
  ids: readonly string[];
  /** Names that each record has. */
  required: readonly string[];
  /** Names of all fields, as a header may spell them differently. */
  fields: readonly string[];
  /** Of several columns that may be a field the one with its very name is. */
  exactFirst?: boolean;
  /** Where a mapping finds a record's id: an answer around records may have the same names. */
  mapped?: readonly string[];
  /** Names of lists in a record that a mapping reads: their members may have the same names as the record. */
  lists?: readonly string[];
}

export const noNames: RecordNames = { ids: [], required: [], fields: [] };

/** Mark before each document of a sequence (RFC 7464). */
const recordSeparator = '\u001e';

/** Form of a text that is JSON. */
export type JsonShape =
  /** A record on each line: one that cannot be read is rejected alone. `commas`: one follows each of them. */
  { kind: 'ndjson'; commas: boolean } | { kind: 'json'; records: 'list' | 'itself' };

/**
 * Recognizes JSON by how a text begins; undefined where it is none. `isWhole`: nothing follows.
 */
export function jsonShape(written: string, isWhole: boolean, names: RecordNames): JsonShape | undefined {
  // As a blank, the mark between the documents of a sequence is found without further ado.
  const text = written.replaceAll(recordSeparator, ' ');
  const start = text.search(/\S/);
  if (start === -1) return { kind: 'ndjson', commas: false };
  if (written.slice(0, start).includes(recordSeparator)) return { kind: 'json', records: 'itself' };
  // Of nearly all logs no more than their first line is looked at.
  const first = parsed(/.*/y.exec(text.slice(start))?.[0] ?? '');
  if (isObject(first) && isRecord(first, names)) return lineByLine;
  const lines = wholeLines(text.slice(start), isWhole);
  if (isHeader(lines)) return undefined;
  if (text[start] === '{') return objectShape(text.slice(start), lines, isWhole, names);
  if (text[start] === '[') return arrayShape(text.slice(start), lines);
  // A document like any other, only that it holds no records.
  if (isWhole && /^\s*(?:-?\d[\d.eE+-]*|true|false|null)\s*$/.test(text)) return list;
  const objects = lines.map(parsed).filter(isObject);
  const isLog =
    objects.some((each) => isRecord(each, names)) || (objects.length > 0 && 2 * objects.length >= lines.length);
  return isLog ? lineByLine : undefined;
}

/**
 * True where the first line is a header whose first name is in braces or brackets, as Adjust writes placeholders:
 * `{adid},{country}`. Above lines of JSON it is a bad row.
 */
function isHeader([first = '', ...others]: readonly string[]): boolean {
  const name = /^(?:\{[^{}[\]":,;\t|]+\}|\[[^{}[\]":,;\t|]+\])(?=[ ]*[,;\t|][^,;\t|])/.exec(first)?.[0];
  return name !== undefined && parsed(name) === undefined && !others.some((line) => isObject(parsed(line)));
}

/** The lines that are not blank, without one that the text may cut. */
function wholeLines(text: string, isWhole: boolean): string[] {
  const lines = text.split(/\r\n|\r|\n/);
  if (!isWhole) lines.pop();
  return lines.map((line) => line.trim()).filter((line) => line !== '');
}

function objectShape(text: string, lines: readonly string[], isWhole: boolean, names: RecordNames): JsonShape {
  const [first = '', ...others] = lines;
  const value = parsed(first);
  if (isObject(value)) {
    const isOnly = others.length === 0 && (isWhole || text.trimEnd().length === first.length);
    if (isOnly) return isRecord(value, names) ? lineByLine : list;
    const all = [first, ...others].map(parsed);
    const isRecords = all.some((each) => isObject(each) && isRecord(each, names)) || !all.every(isObject);
    return isRecords || !all.every(hasOneArray) || haveOwnIds(all, names) ? lineByLine : list;
  }
  const before = lines.length > 1 ? lines.slice(0, -1) : lines;
  if (before.length > 0 && before.every((line) => line.endsWith(',') && isObject(parsed(line.slice(0, -1)))))
    return { kind: 'ndjson', commas: true };
  const scan = scanValue(text);
  if (scan.outcome === 'broken') {
    // A line that breaks off where a record follows is a bad row; so is one that breaks by itself.
    const isRow = !scan.crossedLine || (scan.atLineStart && text[scan.end] === '{');
    return isRow ? lineByLine : documents(scan.keys, names, scan.hasArray);
  }
  const rest = scan.outcome === 'ended' && !scan.crossedLine ? first.slice(scan.end).trimStart() : undefined;
  const isGlued = rest !== undefined && rest.startsWith('{');
  if (rest !== undefined && (!isGlued || others.some((line) => isObject(parsed(line))))) return lineByLine;
  if (scan.outcome === 'ended') {
    const whole = parsed(text.slice(0, scan.end));
    return isObject(whole) && isRecord(whole, names) ? itself : followedByAnother(text, scan.end, whole);
  }
  // The first record is longer than what is looked at, or breaks off at the end of the text.
  if (scan.keys.some((key) => names.ids.includes(key))) return scan.crossedLine ? itself : lineByLine;
  return isWhole || scan.crossedLine || scan.hasArray ? list : lineByLine;
}

/** Documents of other things than records hold them; where several hold no list, each is one. */
function followedByAnother(text: string, end: number, value: unknown): JsonShape {
  const isFollowed = /\S/.test(text.slice(end));
  return isFollowed && !hasOneArray(value) ? itself : list;
}

function documents(keys: readonly string[], names: RecordNames, hasArray: boolean): JsonShape {
  return keys.some((key) => names.ids.includes(key)) && !hasArray ? itself : list;
}

function arrayShape(text: string, lines: readonly string[]): JsonShape {
  const scan = scanValue(text);
  const others = lines.slice(1);
  const isRow = scan.outcome !== 'open' && !scan.crossedLine && others.some((line) => isObject(parsed(line)));
  return isRow ? lineByLine : list;
}

const lineByLine: JsonShape = { kind: 'ndjson', commas: false };
const list: JsonShape = { kind: 'json', records: 'list' satisfies RecordsPlace };
const itself: JsonShape = { kind: 'json', records: 'itself' satisfies RecordsPlace };

/**
 * An object with exactly one array may hold records or be one; it is one where it has an id of ours, or one that a
 * mapping reads and the list's members lack. They may have it, too, where the object has a list that a mapping reads in
 * a record. Without an array it is one where it has any name that records need: an answer that says that something went
 * wrong has none.
 */
function isRecord(value: Record<string, unknown>, { ids, required, mapped = [], lists = [] }: RecordNames): boolean {
  if (hasName(value, ids)) return true;
  const hasOwnList = hasName(value, lists) && !holdsNamed(value, lists);
  if (hasName(value, mapped) && (hasOwnList || !holdsNamed(value, mapped))) return true;
  // Where a mapping knows the names, any object without a list may be a record.
  return arraysIn(value) === 0 && (required.length === 0 || hasName(value, required));
}

function hasOneArray(value: unknown): boolean {
  return isObject(value) && arraysIn(value) === 1;
}

/** Lists that may hold records: one with a text or a number does not. */
function arraysIn(value: Record<string, unknown>): number {
  return Object.values(value).filter((member) => Array.isArray(member) && member.every(isObject)).length;
}

/** True where the members of a list have one of the names: then the value is an answer around them. */
function holdsNamed(value: Record<string, unknown>, names: readonly string[]): boolean {
  return Object.values(value).some(
    (member) => Array.isArray(member) && isObject(member[0]) && hasName(member[0], names),
  );
}

function hasName(value: Record<string, unknown>, names: readonly string[]): boolean {
  return names.some((name) => Object.hasOwn(value, name));
}

const idName = /^(?:id|Id|ID|uuid|guid|.*[_-](?:id|ID)|.*[a-z](?:Id|ID))$/;
const idOfAnswer = /request|trace|correlation|page|batch/i;

/** True for several lines that each have another id: records with a list, such as an offer with its goals. */
function haveOwnIds(lines: readonly unknown[], { ids, mapped = [] }: RecordNames): boolean {
  const objects = lines.filter(isObject);
  if (objects.length < 2 || objects.some((each) => holdsNamed(each, [...ids, ...mapped]))) return false;
  return Object.keys(objects[0] ?? {}).some((key) => {
    const values = new Set(objects.map((each) => each[key]));
    const areScalars = [...values].every((value) => typeof value === 'string' || typeof value === 'number');
    return idName.test(key) && !idOfAnswer.test(key) && areScalars && values.size === objects.length;
  });
}

/** Undefined for what is no object or array. */
function parsed(text: string): unknown {
  return /^\s*[{[]/.test(text) ? parsedJson(text) : undefined;
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

interface Scan {
  outcome: 'ended' | 'open' | 'broken';
  /** Behind the value, or where it breaks. */
  end: number;
  /** A line ends within the value. */
  crossedLine: boolean;
  /** It breaks at the first token of a line. */
  atLineStart: boolean;
  /** Names at its top. */
  keys: string[];
  /** One of the values at its top is an array. */
  hasArray: boolean;
}

const token = /[\t\n\r ]*(?:("(?:[^"\\\n\r]|\\.)*")|([{}[\]:,])|(-?[0-9][0-9.eE+-]*|true|false|null))/y;
const restOfToken = /^[\t\n\r ]*(?:"(?:[^"\\\n\r]|\\.)*\\?|-?[0-9.eE+-]*|[a-z]*)$/;

/** Walks through the value with which a text begins, as far as the text goes. */
function scanValue(text: string): Scan {
  const scan: Scan = { outcome: 'open', end: 0, crossedLine: false, atLineStart: false, keys: [], hasArray: false };
  const open: string[] = [];
  let expects: 'value' | 'valueOrEnd' | 'key' | 'keyOrEnd' | 'colon' | 'next' = 'value';
  for (token.lastIndex = 0; ;) {
    const from = token.lastIndex;
    const match = token.exec(text);
    const blanks = /^[\t\n\r ]*/.exec(text.slice(from))?.[0] ?? '';
    scan.end = from + blanks.length;
    scan.atLineStart = /[\n\r]/.test(blanks);
    if (match === null) {
      if (restOfToken.test(text.slice(from))) return scan;
      return { ...scan, outcome: 'broken', crossedLine: scan.crossedLine || scan.atLineStart };
    }
    if (open.length > 0) scan.crossedLine ||= scan.atLineStart;
    const [, string, mark] = match;
    const isValue = mark === undefined || mark === '{' || mark === '[';
    if (mark === '}' || mark === ']') {
      const fits = mark === '}' ? open.at(-1) === '{' : open.at(-1) === '[';
      const mayEnd = expects === 'next' || expects === (mark === '}' ? 'keyOrEnd' : 'valueOrEnd');
      if (!fits || !mayEnd) return { ...scan, outcome: 'broken' };
      open.pop();
      expects = 'next';
    } else if (expects === 'key' || expects === 'keyOrEnd') {
      if (string === undefined) return { ...scan, outcome: 'broken' };
      if (open.length === 1) {
        const key = parsedJson(string);
        // It may have an escape or a character that JSON has not.
        if (typeof key !== 'string') return { ...scan, outcome: 'broken' };
        scan.keys.push(key);
      }
      expects = 'colon';
    } else if (expects === 'colon' && mark === ':') expects = 'value';
    else if (expects === 'next' && mark === ',') expects = open.at(-1) === '{' ? 'key' : 'value';
    else if ((expects === 'value' || expects === 'valueOrEnd') && isValue) {
      if (mark === '[' && open.length === 1) scan.hasArray = true;
      if (mark !== undefined) open.push(mark);
      expects = mark === '{' ? 'keyOrEnd' : mark === '[' ? 'valueOrEnd' : 'next';
    } else return { ...scan, outcome: 'broken' };
    if (open.length === 0) return { ...scan, outcome: 'ended', end: token.lastIndex };
  }
}
