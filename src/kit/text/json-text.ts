/** A JSON number as it was written: as a JavaScript number it would lose digits of money and ids. */
export class JsonNumber {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export type JsonValue = string | boolean | null | JsonNumber | JsonValue[] | { [key: string]: JsonValue };
export type JsonObject = { [key: string]: JsonValue };

/** Deeper nesting is an accident, and would exhaust the stack of what walks through the value. */
const maxDepth = 1000;

/**
 * Parses strict JSON with numbers kept as text. Undefined for anything else, and for what is nested more than 1,000
 * deep. Numbers that JavaScript writes as the text has them need no look at each value during parsing, which is half of
 * the cost of reading a large catalog.
 */
export function parseJson(text: string): JsonValue | undefined {
  try {
    const value = JSON.parse(text, inexactNumber.test(text) ? keepNumberText : undefined) as ParsedValue;
    return withNumberText(value, maxDepth);
  } catch {
    return undefined;
  }
}

/**
 * Numbers that JavaScript may write otherwise than the text has them: with an exponent, more than 15 digits, zeros at
 * the end, more than six decimals, or minus zero. Also matches such digits within a string.
 */
const inexactNumber = /(?:^|[:,[])\s*-?(?:\d{16}|\d{10,}\.|\d+(?:\.\d+)?[eE]|\d+\.\d{7}|\d+\.\d*0(?!\d)|(?<=-)0)/;

type ParsedValue = string | boolean | null | number | JsonNumber | ParsedValue[] | { [key: string]: ParsedValue };

/** `depth`: how deep the value may be nested. Throws a `RangeError` where it is nested deeper. */
function withNumberText(value: ParsedValue, depth: number): JsonValue {
  if (typeof value === 'number') return new JsonNumber(String(value));
  if (typeof value !== 'object' || value === null || value instanceof JsonNumber) return value;
  if (depth === 0) throw new RangeError('the value is nested too deep');
  if (Array.isArray(value)) return value.map((each) => withNumberText(each, depth - 1));
  for (const key of Object.keys(value)) {
    const member = value[key] as ParsedValue;
    // The object is ours alone: other members stay where they are.
    if (typeof member === 'number' || (typeof member === 'object' && member !== null))
      (value as JsonObject)[key] = withNumberText(member, depth - 1);
  }
  return value as JsonObject;
}

export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof JsonNumber);
}

/** TypeScript's library does not know the reviver's third argument (ES2026) yet. */
function keepNumberText(_key: string, value: unknown, context?: { source?: string }): unknown {
  return typeof value === 'number' ? new JsonNumber(context?.source ?? String(value)) : value;
}

/**
 * Returns a key that some object of the text has twice, of which a parser would silently keep the last. Expects valid
 * JSON and the result of `parseJson`: where it has as many keys as the text, none was lost. `counts`: whether what is
 * below a key of the text's own matters.
 */
export function duplicateKey(
  json: string,
  value: JsonValue,
  counts: (key: string) => boolean = () => true,
): string | undefined {
  const written = json.match(/"\s*:/g)?.length ?? 0;
  return written === keysIn(value) ? undefined : findDuplicateKey(json, counts);
}

function keysIn(value: JsonValue): number {
  if (typeof value !== 'object' || value === null || value instanceof JsonNumber) return 0;
  if (Array.isArray(value)) return value.reduce<number>((sum, each) => sum + keysIn(each), 0);
  const members = Object.values(value);
  return members.reduce<number>((sum, each) => sum + keysIn(each), members.length);
}

function findDuplicateKey(json: string, counts: (key: string) => boolean): string | undefined {
  const open: (Set<string> | undefined)[] = [];
  let isCounted = true;
  const marks = /["{}[\]]/g;
  for (let mark = marks.exec(json)?.[0]; mark !== undefined; mark = marks.exec(json)?.[0]) {
    if (mark === '{') open.push(new Set());
    else if (mark === '[') open.push(undefined);
    else if (mark !== '"') open.pop();
    else {
      const start = marks.lastIndex - 1;
      marks.lastIndex = endOfString(json, start);
      if (!isBeforeColon(json, marks.lastIndex)) continue;
      const name = JSON.parse(json.slice(start, marks.lastIndex)) as string;
      const seen = open.at(-1);
      if (seen?.has(name) === true && (open.length === 1 || isCounted)) return name;
      seen?.add(name);
      if (open.length === 1) isCounted = counts(name);
    }
  }
  return undefined;
}

function isBeforeColon(json: string, at: number): boolean {
  const colon = /\s*:/y;
  colon.lastIndex = at;
  return colon.test(json);
}

const [quote, backslash] = [0x22, 0x5c];

/**
 * Returns the offset behind the JSON string that begins at `start`; that of the text's end where nothing closes it. A
 * pattern would put each of millions of characters on the stack of regular expressions.
 */
export function endOfString(json: string, start: number): number {
  for (let at = start + 1; at < json.length; at++) {
    const character = json.charCodeAt(at);
    if (character === quote) return at + 1;
    if (character === backslash) at++;
  }
  return json.length;
}

/** Writes JSON with numbers as they were written. */
export function jsonText(value: JsonValue): string {
  if (value instanceof JsonNumber) return value.text;
  if (Array.isArray(value)) return `[${value.map(jsonText).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([key, member]) => `${JSON.stringify(key)}:${jsonText(member)}`)
    .join(',')}}`;
}
