import type { AnswerFileFormat } from '../connectors/declaration.ts';

/** Values of a page, lists and objects included: in memory they take many times their text. */
const maxValues = 1_000_000;
const maxDepth = 64;

const [quote, comma, backslash, openList, closeList, openObject, closeObject] = Buffer.from('",\\[]{}');
/** Bytes before or behind each value of formats without nesting. */
const betweenValues = { csv: Buffer.from(',;\t|\n'), xml: Buffer.from('<=') };

/**
 * Bounds of a page, checked chunk by chunk before it is parsed: a few kilobytes of gzip may unpack to twenty million
 * empty objects, which take gigabytes. Only bytes are counted: quotes, braces, commas, of CSV all
 * delimiters, of XML tags and attributes.
 */
export class PageBounds {
  /** The bound that is exceeded; undefined while none is. */
  excess: string | undefined;
  readonly #between: Buffer | undefined;
  readonly #hasQuotes: boolean;
  #values = 1;
  #depth = 0;
  #isQuoted = false;
  #isEscaped = false;

  constructor(format: AnswerFileFormat['type']) {
    this.#between = format === 'json' ? undefined : betweenValues[format];
    this.#hasQuotes = format !== 'xml';
  }

  see(chunk: Buffer): void {
    const isJson = this.#between === undefined;
    for (let at = 0; at < chunk.length && this.excess === undefined; at++) {
      const byte = chunk[at] as number;
      if (this.#isEscaped) this.#isEscaped = false;
      else if (byte === quote && this.#hasQuotes) this.#isQuoted = !this.#isQuoted;
      else if (this.#isQuoted) this.#isEscaped = isJson && byte === backslash;
      else if (isJson ? byte === comma : this.#between?.includes(byte)) this.#values++;
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
