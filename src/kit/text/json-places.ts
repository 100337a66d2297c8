/** Places of values in a JSON text. */
export interface JsonPlaces {
  /** Offset of the value at a path of keys and numbers, or of the nearest value around it that is there. */
  offsetOf(path: readonly PropertyKey[]): number;
  /** Offset of what is not JSON; undefined where all of it is. */
  brokenAt: number | undefined;
}

const token =
  // oxlint-disable-next-line no-control-regex -- JSON forbids them within texts
  /[ \t\n\r]*(?:([{}[\],:])|("(?:[^"\\\0-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*")|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)/y;

/** Finds the places of all values of a text, up to where it stops being JSON. */
export function jsonPlaces(text: string): JsonPlaces {
  const starts = new Map<string, number>();
  const keyOf = (path: readonly PropertyKey[]) => JSON.stringify(path.map(String));
  const offsetOf = (path: readonly PropertyKey[]): number => {
    for (let length = path.length; length > 0; length--) {
      const start = starts.get(keyOf(path.slice(0, length)));
      if (start !== undefined) return start;
    }
    return starts.get(keyOf([])) ?? 0;
  };
  const brokenAt = walk(text, (path, start) => void starts.set(keyOf(path), start));
  return { offsetOf, brokenAt };
}

/** Returns what gives the line of the value at a path, or of the nearest value around it that is there. */
export function linesOfValues(text: string): (path: readonly PropertyKey[]) => number {
  const places = jsonPlaces(text);
  return (path) => linePlace(text, places.offsetOf(path)).line;
}

/** Finds the first key that its object has before already: of its two values a parser drops one without a word. */
export function repeatedKeyAt(text: string): number | undefined {
  let first: number | undefined;
  walk(
    text,
    () => undefined,
    (start) => (first ??= start),
  );
  return first;
}

/** Reads a text up to where it stops being JSON, and returns that place; undefined where all of it is JSON. */
function walk(
  text: string,
  onValue: (path: readonly PropertyKey[], start: number) => void,
  onRepeatedKey: (start: number) => void = () => undefined,
): number | undefined {
  const reader = new TokenReader(text);
  const readValue = (path: readonly PropertyKey[]): void => {
    const first = reader.next();
    onValue(path, first.start);
    if (first.text === '{') {
      const keys = new Set<string>();
      readMembers('}', () => {
        const name = reader.next();
        if (!name.text.startsWith('"')) throw new NotJson(name.start);
        const key = JSON.parse(name.text) as string;
        if (keys.has(key)) onRepeatedKey(name.start);
        keys.add(key);
        reader.expect(':');
        readValue([...path, key]);
      });
    } else if (first.text === '[') {
      let index = 0;
      readMembers(']', () => readValue([...path, index++]));
    } else if (first.isMark) throw new NotJson(first.start);
  };
  const readMembers = (end: string, readMember: () => void): void => {
    if (reader.take(end)) return;
    do readMember();
    while (reader.take(','));
    reader.expect(end);
  };
  try {
    readValue([]);
    reader.expectEnd();
    return undefined;
  } catch (error) {
    // A text may be nested deeper than calls can be.
    return error instanceof NotJson ? error.offset : 0;
  }
}

/** Line and column, from 1, of an offset of a text. */
export function linePlace(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset);
  return { line: before.split('\n').length, column: offset - before.lastIndexOf('\n') };
}

class NotJson extends Error {
  readonly offset: number;
  constructor(offset: number) {
    super('not JSON');
    this.offset = offset;
  }
}

class TokenReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  next(): { text: string; start: number; isMark: boolean } {
    token.lastIndex = this.#at;
    const found = token.exec(this.#text);
    if (found === null) throw new NotJson(this.#behindBlanks());
    this.#at = token.lastIndex;
    const text = found[0].trimStart();
    return { text, start: this.#at - text.length, isMark: found[1] !== undefined };
  }

  /** Passes over a mark where it comes next. */
  take(mark: string): boolean {
    const start = this.#behindBlanks();
    if (this.#text[start] !== mark) return false;
    this.#at = start + 1;
    return true;
  }

  expect(mark: string): void {
    if (!this.take(mark)) throw new NotJson(this.#behindBlanks());
  }

  expectEnd(): void {
    const start = this.#behindBlanks();
    if (start < this.#text.length) throw new NotJson(start);
  }

  #behindBlanks(): number {
    let at = this.#at;
    while (/[ \t\n\r]/.test(this.#text[at] ?? '')) at++;
    return at;
  }
}
