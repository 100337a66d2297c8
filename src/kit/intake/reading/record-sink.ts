/** Reason why a file as a whole cannot be read. */
export interface FileProblem {
  /** The code that the ledger keeps. */
  reason: string;
  detail: string;
}

/** A file cannot be used, whatever comes behind what was read of it. */
export class UnusableFile extends Error {
  readonly problem: FileProblem;
  constructor(problem: FileProblem) {
    super(problem.detail);
    this.problem = problem;
  }
}

/** A longer line is not a record of ours but an accident, and DuckDB needs a bound for its line buffer. */
export const maxLineBytes = 16 * 1024 * 1024;

/** Takes records as lines of JSON: a scratch file, or a list in memory. Copies what it is given. */
export interface RecordSink {
  /** Lines that have ended. */
  readonly lines: number;
  /** Bytes of the longest line. */
  readonly longest: number;
  /** Bytes of the line that is not ended yet. */
  readonly openLine: number;
  byte(byte: number): void;
  bytes(source: Buffer, from?: number, to?: number): void;
  endLine(): void;
}

/** Takes a text apart into records, chunk by chunk. */
export interface RecordTaker {
  /** Known before the end, if so: the rest is passed over. */
  readonly problem: FileProblem | undefined;
  /** May change the chunk, and keeps no part of it. */
  take(chunk: Buffer): void;
  /** Expects that all was taken. Returns the reason why the text cannot be used, if there is one. */
  finish(): FileProblem | undefined;
}

/** Keeps records in memory, for texts that are there anyway. */
export class RecordList implements RecordSink {
  /** Lines without their ends; blank where a row holds nothing. */
  readonly records: string[] = [];
  longest = 0;
  openLine = 0;
  #parts: Buffer[] = [];

  get lines(): number {
    return this.records.length;
  }

  byte(byte: number): void {
    this.bytes(Buffer.of(byte));
  }

  bytes(source: Buffer, from = 0, to = source.length): void {
    this.#parts.push(Buffer.from(source.subarray(from, to)));
    this.openLine += to - from;
  }

  endLine(): void {
    this.longest = Math.max(this.longest, this.openLine);
    this.records.push(Buffer.concat(this.#parts).toString('utf8'));
    this.#parts = [];
    this.openLine = 0;
  }
}
