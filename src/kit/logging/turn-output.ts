/** Asks pino to set `lastLevel` before each line. */
const metadata = Symbol.for('pino.metadata');

/** Lines of this level and above are written at once; pino's numbers. */
const atOnce = 40;

/**
 * Gathers the log lines of one turn of the event loop and writes them together: a service that answers thousands of
 * requests a second would else spend a tenth of its time on writing a line for each. Warnings, errors and the end of
 * the process write what is there at once.
 */
export class TurnOutput {
  readonly [metadata] = true;
  lastLevel = 0;
  readonly #output: { write(text: string): unknown };
  #pending = '';

  constructor(output: { write(text: string): unknown }) {
    this.#output = output;
    process.once('exit', () => this.#flush());
  }

  write(line: string): void {
    if (this.#pending === '') setImmediate(() => this.#flush());
    this.#pending += line;
    if (this.lastLevel >= atOnce) this.#flush();
  }

  #flush(): void {
    const lines = this.#pending;
    this.#pending = '';
    if (lines !== '') this.#output.write(lines);
  }
}
