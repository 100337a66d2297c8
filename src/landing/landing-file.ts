export type LandingKind = 'offers' | 'clicks' | 'conversions';
export type LandingFormat = 'json' | 'ndjson' | 'csv' | 'parquet';

/** A file found in the landing folder, before anything of it was read. */
export interface LandingFile {
  kind: LandingKind;
  /** The catalog source, which is the folder's name under `landing/offers`; null for logs. */
  source: string | null;
  /** Relative to the landing folder, with forward slashes: the name that ledger, rejects and messages use. */
  path: string;
  absolutePath: string;
  format: LandingFormat;
  gzip: boolean;
  bytes: number;
  modifiedNs: bigint;
  /** The inode's change time, which no program can set back. */
  changedNs: bigint;
}

/** A file whose bytes were read once: digest known, gzip whole, text valid UTF-8. */
export interface CheckedFile extends LandingFile {
  sha256: string;
  /** Where plain text with `\n` line ends (or the Parquet file itself) can be read: a scratch copy where the original is not that. */
  readablePath: string;
}

/** One row of a landing file as it stood there. */
export interface LandingRecord {
  /** Physical line for NDJSON (from 1); row number for the other formats, for CSV with the header as row 1. */
  line: number;
  /** The NDJSON line, the array's element, or the CSV or Parquet record as JSON. */
  raw: string;
}

/** Something descriptive that made no sense and was dropped, counted per file. Money and identifiers never end here. */
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

/** A longer line is not a record of ours but an accident, and DuckDB needs a bound for its line buffer. */
export const longestLineBytes = 16 * 1024 * 1024;
