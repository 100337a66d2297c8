/** Spreads a wanted number of incidents evenly over a known number of things, the first of them early. */
export class Spread {
  readonly #wanted: number;
  readonly #total: number;

  constructor(wanted: number, total: number) {
    this.#wanted = wanted;
    this.#total = total;
  }

  /** Number of them that fall on the thing with this index; all indexes add up to the wanted number. */
  at(index: number): number {
    return this.#until(index + 1) - this.#until(index);
  }

  #until(index: number): number {
    return Math.floor((index * this.#wanted) / this.#total + 0.5);
  }
}
