/**
 * What a page shows, as its address says it: path and parameters. Parameters stand in the order of the alphabet and
 * empty ones are left out, so that one view has one address.
 */
export class Address {
  readonly path: string;
  readonly #parameters: ReadonlyMap<string, string>;

  constructor(path: string, parameters: Iterable<readonly [string, string]> = []) {
    this.path = path;
    this.#parameters = new Map(
      [...parameters].filter(([, value]) => value !== '').toSorted(([a], [b]) => (a < b ? -1 : 1)),
    );
  }

  /** Of a request's target. A parameter that is given twice counts as it was given first. */
  static of(target: string): Address {
    const url = new URL(target, 'http://console.invalid');
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

  /** The same view with other parameters; an undefined one is taken out. */
  with(changes: Readonly<Record<string, string | undefined>>): Address {
    const parameters = new Map(this.#parameters);
    for (const [name, value] of Object.entries(changes)) {
      if (value === undefined) parameters.delete(name);
      else parameters.set(name, value);
    }
    return new Address(this.path, parameters);
  }

  /** As a link names it, which is its canonical form. */
  get href(): string {
    const query = new URLSearchParams([...this.#parameters]).toString();
    return query === '' ? this.path : `${this.path}?${query}`;
  }
}
