import { UsageError } from '../../../kit/errors/errors.ts';

/** A row that cannot be read, and why. */
export interface UnreadableRow {
  /** Of a text its line, of a sheet its row, of a document the record's number. */
  line: number;
  reason: string;
}

/** Rows that a message lists: more do not fit on a screen. */
const maxShown = 20;

/** Rows of a list cannot be read, so nothing is compared: sums without them would be wrong. */
export class UnreadableRowsError extends UsageError {
  readonly file: string;
  readonly rows: readonly UnreadableRow[];

  /** `word`: what a number is of: line, row or record. */
  constructor(file: string, word: string, rows: readonly UnreadableRow[]) {
    const lines = rows.slice(0, maxShown).map(({ line, reason }) => `${file} ${word} ${line}: ${reason}`);
    const more = rows.length - lines.length;
    super([...lines, ...(more > 0 ? [`… and ${more} more of ${rows.length}; --json names all`] : [])].join('\n'));
    this.file = file;
    this.rows = rows;
  }
}
