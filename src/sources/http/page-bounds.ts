/** Values of a page, lists and objects among them: what they take in memory is many times their text. */
const mostValues = 1_000_000;
const deepest = 64;

const [quote, comma, lineFeed, backslash, openList, closeList, openObject, closeObject] = Buffer.from('",\n\\[]{}');

/**
 * Looks at a page as it comes, chunk by chunk, and says what makes it too much to be parsed: a few kilobytes of gzip
 * may unpack to twenty million empty objects, which take gigabytes. Looks at bytes only: quotes, braces, commas.
 */
export class PageBounds {
  /** Undefined as long as nothing is too much. */
  excess: string | undefined;
  readonly #format: 'json' | 'csv';
  #values = 1;
  #depth = 0;
  #isQuoted = false;
  #isEscaped = false;

  constructor(format: 'json' | 'csv') {
    this.#format = format;
  }

  see(chunk: Buffer): void {
    const isJson = this.#format === 'json';
    for (let at = 0; at < chunk.length && this.excess === undefined; at++) {
      const byte = chunk[at];
      if (this.#isEscaped) this.#isEscaped = false;
      else if (byte === quote) this.#isQuoted = !this.#isQuoted;
      else if (this.#isQuoted) this.#isEscaped = isJson && byte === backslash;
      else if (byte === comma || (byte === lineFeed && !isJson)) this.#values++;
      else if (isJson && (byte === openList || byte === openObject)) {
        this.#values++;
        this.#depth++;
      } else if (isJson && (byte === closeList || byte === closeObject)) this.#depth--;
      if (this.#depth > deepest) this.excess = `more than ${deepest} lists and objects within one another`;
      if (this.#values > mostValues)
        this.excess = `more than ${mostValues} values: ask for smaller pages, or for fewer fields`;
    }
  }
}
