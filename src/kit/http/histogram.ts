/** How often a quantity was how large, for `/metrics`. */
export class Histogram {
  readonly bounds: readonly number[];
  /** For each bound those that are not above it and above the one before; the last for those above all. */
  readonly counts: number[];
  sum = 0;

  /** `bounds`: upper ones, ascending. */
  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = [...bounds.map(() => 0), 0];
  }

  observe(value: number): void {
    let column = 0;
    while (column < this.bounds.length && value > (this.bounds[column] as number)) column++;
    (this.counts[column] as number)++;
    this.sum += value;
  }
}
