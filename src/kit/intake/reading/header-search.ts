/** Says how many of a row's cells are names that a header of these records has; 0 for a row that is none. */
export type ScoreHeader = (cells: readonly string[]) => number;

/** Rows that are looked at, the blank ones left out. */
const maxRows = 50;

/** Finds a header that has titles above it: of the first rows the one with most names that are known. */
export class HeaderSearch {
  readonly #score: ScoreHeader;
  #seen = 0;
  #first: number | undefined;
  #best: { row: number; score: number } | undefined;

  constructor(score: ScoreHeader) {
    this.#score = score;
  }

  /** No further row is looked at. */
  get isOver(): boolean {
    return this.#seen === maxRows;
  }

  /** Number of the header's row; undefined where it is the first one, or none is known. */
  get rowBelow(): number | undefined {
    return this.#best?.row === this.#first ? undefined : this.#best?.row;
  }

  /** Looks at a row that is not blank, by its number. */
  see(row: number, cells: readonly string[]): void {
    this.#seen++;
    this.#first ??= row;
    const score = this.#score(cells);
    if (score > (this.#best?.score ?? 0)) this.#best = { row, score };
  }
}
