import { CsvRecords, type TableRows } from './csv-records.ts';
import { Decoder } from './decode.ts';
import type { FormatSettings } from './format-settings.ts';
import type { ScoreHeader } from './header-search.ts';
import { commaBehindRecord, JsonRecords } from './json-records.ts';
import { noNames, type RecordNames } from './json-shape.ts';
import { PlainLines } from './plain-lines.ts';
import {
  headBytes,
  recognizeForm,
  recognizePacking,
  type BareForm,
  type RecordFormat,
  type TextForm,
} from './recognize.ts';
import { UnusableFile, type FileProblem, type RecordSink, type RecordTaker } from './record-sink.ts';
import { byteOrderMark, TextCheck } from './text-check.ts';
import { XmlRecords } from './xml-records.ts';

export interface ReadingOptions {
  settings: FormatSettings;
  names: RecordNames;
  /** Writes the records of CSV. */
  rows?: TableRows | undefined;
  /** Finds a header below titles; without it the header is the first row, where the settings say nothing else. */
  score?: ScoreHeader | undefined;
  /** Nothing can follow the text, so a last row of CSV counts whose line has no end. */
  isWhole?: boolean | undefined;
}

/** Facts of a text that was read. */
export interface ReadText {
  format: RecordFormat;
  problem: FileProblem | undefined;
  /** The number of the first line's record. */
  firstRow: number;
  /** Columns of a text with a header. */
  columns: string[] | null;
  /** Row of a header that was found below others, as `format.header` names it. */
  headerRow?: number | undefined;
  /** The row whose line has no end. */
  unterminatedRow: number | null;
  /** Number of cells with a bare NULL or an error of a workbook, by column. */
  nullTexts: ReadonlyMap<string, number>;
  /** The last line has an end. */
  endsLine: boolean;
  /** Bytes of the longest line, of the text or of its records. */
  longestLine: number;
}

/**
 * Reads an unpacked text of any format and encoding that it recognizes, chunk by chunk, into records, one a line. Holds
 * no more than the bytes by which it recognizes the text, and a record. Throws `UnusableFile` at the first byte that
 * makes the text so, where gigabytes might follow of which nothing would be used.
 */
export class RecordReader {
  readonly #sink: RecordSink;
  readonly #options: ReadingOptions;
  #head: Buffer = Buffer.alloc(0);
  #reading: Reading | undefined;

  constructor(sink: RecordSink, options: ReadingOptions = { settings: {}, names: noNames }) {
    this.#sink = sink;
    this.#options = options;
  }

  /** May change the chunk, and keeps no part of it. */
  take(chunk: Buffer): void {
    if (this.#reading !== undefined) return this.#reading.take(chunk);
    const head: Buffer = this.#head.length === 0 ? chunk : Buffer.concat([this.#head, chunk]);
    if (head.length < headBytes) this.#head = Buffer.from(head);
    else this.#begin(head, false).take(head);
  }

  finish(): ReadText {
    if (this.#reading !== undefined) return this.#reading.finish();
    const reading = this.#begin(this.#head, true);
    if (this.#head.length > 0) reading.take(this.#head);
    return reading.finish();
  }

  #begin(head: Buffer, isWhole: boolean): Reading {
    const packing = recognizePacking(head);
    if (packing !== 'none')
      throw new UnusableFile({ reason: 'packed_twice', detail: `what is packed is packed again, as ${packing}` });
    const form = recognizeForm(head, isWhole, this.#options.settings, this.#options.names, this.#options.score);
    this.#reading = new Reading(this.#sink, assertText(form), this.#options);
    return this.#reading;
  }
}

/** Throws `UnusableFile` for what is no text. */
export function assertText(form: BareForm): TextForm {
  if (form.format === 'parquet')
    throw new UnusableFile({ reason: 'packed_parquet', detail: 'Parquet is packed in itself: land it as it is' });
  if (form.format === 'ole')
    throw new UnusableFile({
      reason: 'old_workbook',
      detail: 'a workbook of an old format, or one with a password: save it as .xlsx without a password',
    });
  if (form.format === 'ndjson' && form.commas) throw new UnusableFile(commaBehindRecord);
  if (form.format === 'csv' && form.headerIsMissing)
    throw new UnusableFile({
      reason: 'bad_header',
      detail: `no header row begins behind what is skipped, in its first ${headBytes} bytes`,
    });
  return form;
}

/** The reading of a text whose form is known. */
class Reading {
  readonly #format: RecordFormat;
  readonly #sink: RecordSink;
  readonly #text: TextCheck;
  readonly #decoder: Decoder | undefined;
  readonly #records: RecordTaker;
  readonly #headerRow: number | undefined;
  #isFirst = true;

  constructor(sink: RecordSink, form: TextForm, options: ReadingOptions) {
    this.#format = form.format;
    this.#sink = sink;
    this.#text = new TextCheck(form.format);
    this.#decoder = form.encoding === 'utf-8' ? undefined : new Decoder(form.encoding);
    this.#records = recordsOf(sink, form, options);
    this.#headerRow = form.format === 'csv' ? form.headerRow : undefined;
  }

  take(chunk: Buffer): void {
    this.#takeText(this.#decoder === undefined ? chunk : this.#decoder.decode(chunk));
  }

  #takeText(chunk: Buffer): void {
    this.#text.see(chunk);
    this.#records.take(this.#isFirst ? withoutMark(chunk) : chunk);
    this.#isFirst = false;
    const problem = this.#text.problemSoFar ?? this.#records.problem;
    if (problem?.reason === 'line_too_long') throw new UnusableFile(problem);
  }

  finish(): ReadText {
    const rest = this.#decoder?.end();
    if (rest !== undefined && rest.length > 0) this.#takeText(rest);
    const problem = this.#records.finish();
    const csv = this.#records instanceof CsvRecords ? this.#records : undefined;
    return {
      format: this.#format,
      problem: this.#text.problem() ?? problem,
      firstRow: csv?.firstRow ?? 1,
      columns: csv?.columns ?? null,
      headerRow: this.#headerRow,
      unterminatedRow: csv?.unterminatedRow ?? null,
      nullTexts: csv?.nullTexts ?? new Map(),
      endsLine: this.#text.endsLine,
      longestLine: Math.max(this.#text.longestLine, this.#sink.longest),
    };
  }
}

function recordsOf(sink: RecordSink, form: TextForm, { names, rows, isWhole }: ReadingOptions): RecordTaker {
  if (form.format === 'ndjson') return new PlainLines(sink);
  if (form.format === 'json') return new JsonRecords(sink, { records: form.records, several: true });
  if (form.format === 'xml') return new XmlRecords(sink, form.records);
  return new CsvRecords(sink, {
    delimiter: form.delimiter,
    start: Buffer.byteLength(form.before),
    rowsBefore: form.rowsBefore,
    linesBefore: form.linesBefore,
    header: form.header,
    known: names.fields,
    exactFirst: names.exactFirst,
    rows,
    passesOverBlank: true,
    isWhole,
  });
}

export function withoutMark(first: Buffer): Buffer {
  return first.subarray(0, 3).equals(byteOrderMark) ? first.subarray(3) : first;
}
