import type { ColumnValue } from '../../../kit/duckdb/dialect/rows.ts';
import type { QueryAnswer } from '../query.ts';

/** Rows that are counted: who asks for more is better served by an aggregate. */
const maxCounted = 100_000;
/** Characters of an answer's rows: an assistant reads some ten thousand words at once. */
const maxCharacters = 60_000;
/** Characters of one cell. */
const maxCell = 4_000;

/** Rows that fit into an answer, and how many there are. */
export interface BoundedRows {
  rows: Record<string, ColumnValue>[];
  shown: number;
  /** All rows; null where they are more than are counted. */
  of_rows: number | null;
  /** What is left out, and how to get it. */
  note?: string;
}

/** Returns the first rows of a query's answer and counts the others. */
export async function boundedRows({ columns, chunks }: QueryAnswer, max: number): Promise<BoundedRows> {
  const bounds = new RowBounds(max);
  for await (const chunk of chunks) {
    for (const values of chunk)
      bounds.add(Object.fromEntries(columns.map(({ name }, at) => [name, values[at] ?? null])));
    if (bounds.count > maxCounted) break;
  }
  return bounds.rows('query with WHERE, LIMIT and OFFSET, or aggregate');
}

/** Returns the first of some rows. `cure`: how to get the others. */
export function firstOf(rows: readonly object[], max: number, cure: string): BoundedRows {
  const bounds = new RowBounds(max);
  for (const row of rows) bounds.add(row as Record<string, ColumnValue>);
  return bounds.rows(cure);
}

class RowBounds {
  count = 0;
  readonly #max: number;
  readonly #kept: Record<string, ColumnValue>[] = [];
  #characters = 0;
  #cutCells = 0;
  #full = false;

  constructor(max: number) {
    this.#max = max;
  }

  add(row: Record<string, ColumnValue>): void {
    this.count++;
    if (this.#full || this.#kept.length >= this.#max) return;
    const cut = Object.fromEntries(Object.entries(row).map(([name, value]) => [name, this.#bounded(value)]));
    this.#characters += JSON.stringify(cut).length;
    this.#full = this.#characters > maxCharacters;
    // The first row is shown in any case, its cells are short enough.
    if (!this.#full || this.#kept.length === 0) this.#kept.push(cut);
  }

  rows(cure: string): BoundedRows {
    const { count } = this;
    const shown = this.#kept.length;
    const all = count > maxCounted ? `more than ${maxCounted}` : String(count);
    const notes = [
      ...(shown < count ? [`the first ${shown} of ${all} rows; for others ${cure}`] : []),
      ...(this.#cutCells > 0 ? [`cells longer than ${maxCell} characters are cut: ${this.#cutCells}`] : []),
    ];
    return {
      rows: this.#kept,
      shown,
      of_rows: count > maxCounted ? null : count,
      ...(notes.length > 0 && { note: notes.join('; ') }),
    };
  }

  #bounded(value: ColumnValue): ColumnValue {
    const text = typeof value === 'string' ? value : typeof value === 'object' ? JSON.stringify(value) : '';
    if (text.length <= maxCell) return value;
    this.#cutCells++;
    return `${text.slice(0, maxCell)}…`;
  }
}
