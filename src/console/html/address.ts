import { compareTexts } from '../../kit/text/compare-texts.ts';

/**
 * Path and parameters of a page. Parameters are in the order of the alphabet and empty ones are left out, so that one
 * view has one address.
 */
export class Address {
  readonly path: string;
  readonly #parameters: ReadonlyMap<string, string>;

  constructor(path: string, parameters: Iterable<readonly [string, string]> = []) {
    this.path = path;
    this.#parameters = new Map(
      [...parameters].filter(([, value]) => value !== '').toSorted(([a], [b]) => compareTexts(a, b)),
    );
  }

  /**
   * Parses a request's target; one that cannot be parsed, such as `//`, counts as `/`. Of a parameter that is given
   * twice the first one counts.
   */
  static of(target: string): Address {
    const base = 'http://console.invalid';
    const url = new URL(URL.canParse(target, base) ? target : '/', base);
    const parameters = new Map<string, string>();
    for (const [name, value] of url.searchParams) if (!parameters.has(name)) parameters.set(name, value);
    return new Address(url.pathname, parameters);
  }

  get(name: string): string | undefined {
    return this.#parameters.get(name);
  }

  get parameters(): Iterable<readonly [string, string]> {
    return this.#parameters;
  }

  /** Returns the same view with other parameters; an undefined one is removed. */
  with(changes: Readonly<Record<string, string | undefined>>): Address {
    const parameters = new Map(this.#parameters);
    for (const [name, value] of Object.entries(changes)) {
      if (value === undefined) parameters.delete(name);
      else parameters.set(name, value);
    }
    return new Address(this.path, parameters);
  }

  /** The canonical address, for links. */
  get href(): string {
    const query = new URLSearchParams([...this.#parameters]).toString();
    return query === '' ? this.path : `${this.path}?${query}`;
  }
}
