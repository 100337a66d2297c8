/** Values of a page, lists and objects included: in memory they take many times their text. */
const maxValues = 1_000_000;
const maxDepth = 64;

const [quote, comma, lineFeed, backslash, openList, closeList, openObject, closeObject] = Buffer.from('",\n\\[]{}');

/**
 * Bounds of a page, checked chunk by chunk before it is parsed: a few kilobytes of gzip may unpack to twenty million
 * empty objects, which take gigabytes. Only bytes are counted: quotes, braces, commas.
 */
export class PageBounds {
  /** The bound that is exceeded; undefined while none is. */
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
      if (this.#depth > maxDepth) this.excess = `more than ${maxDepth} lists and objects within one another`;
      if (this.#values > maxValues)
        this.excess = `more than ${maxValues} values: ask for smaller pages, or for fewer fields`;
    }
  }
}
