import type { DuckDBConnection } from '@duckdb/node-api';
import { linesFor, type ConversionLine } from '../../../sources/conversions/emitted-conversions.ts';
import { allRecordsOf } from '../../landing/catalog/catalog-records.ts';
import { LineFile } from '../../landing/lines/line-file.ts';
import { setLongLinesApart } from '../../landing/lines/long-lines.ts';
import type { CheckedFile, FileLines } from '../../landing/landing-file.ts';
import { queryRows } from '../../../kit/duckdb/dialect/rows.ts';
import { longLineBytes } from '../../../kit/intake/reading/text-check.ts';
import { moneyText, parseMoney } from '../../../kit/text/decimal-text.ts';
import { jsonText } from '../../../kit/text/json-text.ts';
import { compareMoments, momentOf } from '../../../kit/time/moment.ts';
import { insertInto } from '../../warehouse/insert-into.ts';
import { compareAge } from '../catalog/catalog-files.ts';
import { creditedAfter, isSameConversion, ListedEvents, type CreditedMilestones } from './same-conversion.ts';
import { readStateRow, type StateReading, type StateRow } from './state-rows.ts';

/** What rows of state have emitted of a conversion so far. */
export interface EmittedState extends CreditedMilestones {
  conversion_id: string;
  /** Of the first row about it; null where not known. */
  click_id: string | null;
  /** Number of its credits, or of rejects without one. */
  credits: number;
  state: 'pending' | 'credited' | 'reversed';
  /** USD; null: the catalog's payout counts. */
  payout: string | null;
  /** The amount before it was converted, as `listedAmount` writes it; null where there was none or it is not known. */
  listed: string | null;
  /** Greatest version among rows that decided, so not of pending ones; null before one. */
  version: string | null;
  /** Place of the newest row that decided: number of its file in the ledger, and its line; null where not known. */
  file_id: number | null;
  line: number | null;
}

type Place = Pick<EmittedState, 'file_id' | 'line'>;

/** What became of the rows of a file of states. */
export interface StateRowCounts {
  /** Rows that became events. */
  emitted: number;
  /** Rows that bring nothing new. */
  unchanged: number;
  /** Among `unchanged`: rows about another conversion, of another click or milestone, under an id that is taken. */
  conflicts: number;
}

/** A file of states as a log of events. */
export interface StateEvents extends StateRowCounts {
  lines: Pick<FileLines, 'readablePath' | 'longLines'>;
}

/** Most second events in one scratch file, which one statement reads. */
const maxSecondEvents = 20_000;

/**
 * Turns files of state rows into logs of the events that lead from the state emitted before to the state of each row.
 * Files are taken in the order in which they arrived. A row with an older version than was emitted adds nothing; nor
 * does one of a file that is read again where it comes no later than the row that decided, unless its version is newer;
 * nor one about another conversion under the same id.
 * A row's second event goes to a further scratch file, under the same line number.
 * `emittedBefore` returns the emitted states by conversion id; `scratch`: beginning of the paths of scratch files.
 */
export async function eventsOfStates<File extends StateFile>(
  files: readonly File[],
  emittedBefore: (ids: readonly string[]) => Promise<Map<string, EmittedState>>,
  reading: Omit<StateReading, 'changedAt'>,
  scratch: (file: File) => string,
): Promise<{ events: Map<File, StateEvents>; emitted: EmittedState[] }> {
  const emitted = new Map<string, EmittedState>();
  const events = new Map<File, StateEvents>();
  for (const file of files.toSorted(compareAge)) {
    const modified = momentOf(file.modifiedNs / 1000n);
    // Landing refuses what changes in the future, and a modification time ahead of the clock is a mistake.
    const changedAt = compareMoments(modified, reading.wallClock) > 0 ? reading.wallClock : modified;
    const rows = await readRows(file, { ...reading, changedAt });
    const ids = rows.flatMap(({ row }) => ('rejected' in row ? [] : [row.id, row.writtenId]));
    const before = await emittedBefore([...new Set(ids)].filter((id) => !emitted.has(id)));
    const stateOf = (id: string) => emitted.get(id) ?? before.get(id);
    for (const { row } of rows) if (!('rejected' in row)) keepEmittedId(row, stateOf);
    const rowEvents = eventsOfRows(file, rows, stateOf, (state) => emitted.set(state.conversion_id, state));
    const range = { from: file.firstRow, to: rows.at(-1)?.line ?? file.firstRow - 1 };
    events.set(file, { lines: await writeEvents(rowEvents, range, scratch(file)), ...rowEvents.counts });
  }
  return { events, emitted: [...emitted.values()] };
}

/** A conversion keeps the id that it was emitted under: until version 0.2 that was the one that is written. */
function keepEmittedId(row: StateRow, stateOf: (id: string) => EmittedState | undefined): void {
  if (stateOf(row.id) === undefined && stateOf(row.writtenId) !== undefined) row.id = row.writtenId;
}

/** A file whose rows say how conversions stand. */
export interface StateFile extends CheckedFile {
  /** Number in the ledger: of two new files the one that arrived first has the lower one. */
  fileId: number;
  /** Its row in the ledger where it is read again. */
  before?: unknown;
}

interface NumberedRow {
  /** Of its record, from the file's first. */
  line: number;
  row: StateRow | Extract<ReturnType<typeof readStateRow>, { rejected: unknown }>;
}

async function readRows(file: FileLines, reading: StateReading): Promise<NumberedRow[]> {
  const rows: NumberedRow[] = [];
  for await (const records of allRecordsOf(file))
    for (const { line, text } of records) rows.push({ line, row: readStateRow(text, reading) });
  return rows;
}

/** Rows by their version, else as they stand in the file. */
function byVersion(rows: readonly NumberedRow[]): NumberedRow[] {
  const versionOf = ({ row }: NumberedRow) => ('rejected' in row ? null : row.version);
  return rows.toSorted((one, other) => {
    const [left, right] = [versionOf(one), versionOf(other)];
    if (left === null || right === null || left === right) return one.line - other.line;
    return left < right ? -1 : 1;
  });
}

/** Events as JSON, under the lines of the rows that emit them. */
interface RowEvents {
  /** A row's only or first event, and a rejected row as it came. */
  first: Map<number, string>;
  second: { line: number; text: string }[];
  counts: StateRowCounts;
}

function eventsOfRows(
  { fileId, before }: StateFile,
  rows: readonly NumberedRow[],
  stateOf: (id: string) => EmittedState | undefined,
  emit: (state: EmittedState) => void,
): RowEvents {
  const events: RowEvents = { first: new Map(), second: [], counts: { emitted: 0, unchanged: 0, conflicts: 0 } };
  const listed = new ListedEvents();
  for (const { row } of rows) if (!('rejected' in row)) listed.add(row);
  for (const { line, row } of byVersion(rows)) {
    if ('rejected' in row) {
      events.first.set(line, jsonText(row.rejected));
      continue;
    }
    const place = { file_id: fileId, line };
    const state = stateOf(row.id);
    if (state !== undefined && !isSameConversion(row, state, listed)) {
      events.counts.conflicts++;
      events.counts.unchanged++;
      continue;
    }
    const isReplaced = before !== undefined && state !== undefined && isDecidedBy(state, row, place);
    const [first, second] = isReplaced ? [] : emitState(row, place, state, emit);
    if (first === undefined) {
      events.counts.unchanged++;
      continue;
    }
    events.counts.emitted++;
    events.first.set(line, JSON.stringify(first));
    if (second !== undefined) events.second.push({ line, text: JSON.stringify(second) });
  }
  return events;
}

/**
 * Writes first events to a file, each on the line of its row up to the last row's, and the second ones to others, as
 * well as long lines: a rejected row has its record as it came.
 */
async function writeEvents(
  { first, second }: RowEvents,
  { from, to }: { from: number; to: number },
  scratch: string,
): Promise<StateEvents['lines']> {
  const path = `${scratch}-events.ndjson`;
  const longest = writeLines(
    path,
    Array.from({ length: to - from + 1 }, (_, index) => first.get(from + index) ?? ''),
  );
  const { readablePath, longLines } =
    longest > longLineBytes
      ? await setLongLinesApart({ readablePath: path, firstRow: from }, `${scratch}-events`)
      : { readablePath: path, longLines: [] };
  for (let start = 0; start < second.length; start += maxSecondEvents) {
    const part = second.slice(start, start + maxSecondEvents);
    const partPath = `${scratch}-events-${start}.ndjson`;
    writeLines(
      partPath,
      part.map(({ text }) => text),
    );
    longLines.push({ path: partPath, rows: part.map(({ line }) => line) });
  }
  return { readablePath, longLines };
}

/** Returns the events that lead from what was emitted to what a row says, and notes that. */
function emitState(
  row: StateRow,
  place: Place,
  before: EmittedState | undefined,
  emit: (state: EmittedState) => void,
): readonly ConversionLine[] {
  const known = before?.version ?? null;
  if (known !== null && row.version !== null && row.version < known) return [];
  const { lines, emitted } = linesFor(row, before && { ...before, version: before.credits });
  // A credit of before these columns is taken to be for what the next row says.
  const isCredited =
    lines.some(({ kind }) => kind === 'credit') || (emitted?.state === 'credited' && (before?.events ?? null) === null);
  // What is pending decides nothing: an older row that decides counts after it.
  const isDecided = row.status !== 'pending';
  const decidedBy = !isDecided || (before !== undefined && isAfter(before, place)) ? before : place;
  if (emitted !== undefined)
    emit({
      conversion_id: row.id,
      click_id: row.clickId,
      credits: emitted.version,
      state: emitted.state,
      payout: emitted.payout,
      listed: emitted.listed,
      version: (isDecided ? row.version : null) ?? known,
      file_id: decidedBy?.file_id ?? null,
      line: decidedBy?.line ?? null,
      ...creditedAfter(row, before, isCredited),
    });
  return lines;
}

/** True where that row or a later one has decided, and the row is no newer version. */
function isDecidedBy(state: EmittedState, { version }: StateRow, place: Place): boolean {
  if (state.state === 'pending') return false;
  if (version !== null && state.version !== null && version > state.version) return false;
  return state.file_id === null || !isAfter(place, state);
}

function isAfter({ file_id, line }: Place, other: Place): boolean {
  if (file_id === null || line === null) return false;
  if (other.file_id === null || other.line === null) return true;
  return file_id === other.file_id ? line > other.line : file_id > other.file_id;
}

/** Returns the bytes of the longest one. */
function writeLines(path: string, texts: readonly string[]): number {
  const file = new LineFile(path);
  try {
    for (const text of texts) {
      file.bytes(Buffer.from(text));
      file.endLine();
    }
    file.finish();
    return file.longest;
  } finally {
    file.close();
  }
}

/** Conversions that are looked up in one statement. */
const maxLookedUp = 50_000;

/** Returns what was emitted of conversions, by their ids. */
export async function emittedStates(
  connection: DuckDBConnection,
  ids: readonly string[],
): Promise<Map<string, EmittedState>> {
  const emitted = new Map<string, EmittedState>();
  for (let start = 0; start < ids.length; start += maxLookedUp) {
    const rows = await queryRows<EmittedState>(
      connection,
      `SELECT conversion_id, click_id, credits, state, payout::VARCHAR AS payout, listed, version, file_id, line, events, occurred_at FROM conversion_states
       WHERE conversion_id IN (SELECT unnest(from_json($1, '["VARCHAR"]')))`,
      [JSON.stringify(ids.slice(start, start + maxLookedUp))],
    );
    for (const row of rows)
      emitted.set(row.conversion_id, { ...row, payout: row.payout && moneyText(parseMoney(row.payout) ?? 0n) });
  }
  return emitted;
}

/** Remembers what was emitted, in the transaction of its events. */
export async function rememberStates(connection: DuckDBConnection, emitted: readonly EmittedState[]): Promise<void> {
  await insertInto(connection, 'conversion_states', emitted, { replacing: ['conversion_id'] });
}
