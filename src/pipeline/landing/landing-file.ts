import type { AbsentColumns } from '../../kit/intake/mapping/absent-columns.ts';
import type { FormatSettings } from '../../kit/intake/reading/format-settings.ts';
import type { RecordFormat } from '../../kit/intake/reading/recognize.ts';
import { rawOfLine } from './lines/mapped-line.ts';
import type { LandingKind } from '../../kit/vocabulary/values.ts';

/** A file found in the landing folder, before anything of it was read. */
export interface LandingFile {
  kind: LandingKind;
  /** The catalog source, which is the folder's name under `landing/offers`; null for logs. */
  source: string | null;
  /** Relative to the landing folder, with forward slashes: the name that ledger, rejects and messages use. */
  path: string;
  absolutePath: string;
  bytes: number;
  modifiedNs: bigint;
  /** The inode's change time, which no program can set back. */
  changedNs: bigint;
}

/** A file whose bytes were read once: digest and format known, what is packed whole, text valid. */
export interface CheckedFile extends LandingFile, FileLines {
  sha256: string;
}

/** Text of a file's records, one a line; of Parquet it is known only once the engine has taken it apart. */
export interface FileLines {
  /** Format by the bytes, whatever the name says. */
  format: RecordFormat;
  /** Lines with `\n` as their end, or the Parquet file itself: a scratch copy where the landing file is not that. */
  readablePath: string;
  /** The number of the first line's record: 2 for CSV whose header is row 1. */
  firstRow: number;
  /** Columns of a file with a header. */
  columns: string[] | null;
  /** Row of a header that was found below others, as `format.header` names it. */
  headerRow?: number | undefined;
  /**
   * Number of cells with a bare NULL or an error of a workbook, which count as absent, by column, or by the field that
   * a mapping makes of it.
   */
  nullTexts: ReadonlyMap<string, number>;
  /** Where a mapping made the lines. */
  mapped?: MappedFacts | undefined;
  /** The row of a CSV file whose line has no end. */
  unterminatedRow: number | null;
  /** Long lines of a log lie apart; where they were, the text has blank ones. */
  longLines: LongLines[];
}

/** What a mapping made of a file's records. */
export interface MappedFacts {
  /** Records that do not count. */
  passedOver: number;
  /** Records by the code of what was understood with a loss. */
  warnings: ReadonlyMap<string, number>;
  /** What the mapping reads and a table has no column for, or no record a place. */
  absent: readonly AbsentColumns[];
  /** Where lines have not the record as it lay there: settings by which the file is read again to show it. */
  recordsBy?: FormatSettings;
}

/** A scratch file of long lines, few enough to be read all at once. */
interface LongLines {
  path: string;
  /** The number of each line's record. */
  rows: number[];
}

/** Row of a landing file as it was there. */
export class LandingRecord {
  /** Physical line for NDJSON (from 1); row number for the other formats, for CSV with the header as row 1. */
  readonly line: number;
  /** Bytes of its text, which is made only when it is asked for: most records of an export have not changed. */
  readonly bytes: Buffer;

  constructor(line: number, bytes: Buffer) {
    this.line = line;
    this.bytes = bytes;
  }

  /**
   * The record as it is read: the NDJSON line, the array's element, the CSV or Parquet record as JSON, or as mapped.
   */
  get text(): string {
    return this.bytes.toString('utf8');
  }

  /** The record as it lay there. */
  get raw(): string {
    return rawOfLine(this.text);
  }
}

/**
 * Warning, counted per file: a descriptive value without sense was dropped (never money or an identifier), or a value
 * that counts is one that an operator should know of.
 */
export interface IngestWarning {
  /** Code such as `unknown_field` or `bad_country`. */
  warning: string;
  field: string | null;
}

/** The whole file cannot be read; nothing of it is loaded. `reason` is the code that the ledger keeps. */
export class QuarantineError extends Error {
  readonly reason: string;
  constructor(reason: string, detail: string) {
    super(detail);
    this.name = 'QuarantineError';
    this.reason = reason;
  }
}

/**
 * Returns the error that ends a run whose reading of a file failed. A fault of the program, such as a `RangeError`,
 * says nothing of the file, so it is named; every other error is returned as it is.
 */
export function namingFile(error: unknown, { path }: Pick<LandingFile, 'path'>): unknown {
  if (!(error instanceof RangeError || error instanceof TypeError)) return error;
  const advice = 'move it out of the landing folder, so that the others are ingested, and report it';
  return new Error(`${path} cannot be read (${String(error)}): ${advice}`, { cause: error });
}
