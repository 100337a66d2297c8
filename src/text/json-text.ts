/** A JSON number as it was written: as a JavaScript number it would lose digits of money and ids. */
export class JsonNumber {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export type JsonValue = string | boolean | null | JsonNumber | JsonValue[] | { [key: string]: JsonValue };
export type JsonObject = { [key: string]: JsonValue };

/** Strict JSON with numbers kept as text. Undefined where the text is no JSON. */
export function parseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text, keepNumberText) as JsonValue;
  } catch {
    return undefined;
  }
}

export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof JsonNumber);
}

/** TypeScript's library does not know the reviver's third argument (ES2026) yet. */
function keepNumberText(_key: string, value: unknown, context?: { source?: string }): unknown {
  return typeof value === 'number' ? new JsonNumber(context?.source ?? String(value)) : value;
}

/**
 * A key that some object of the text has twice, of which a parser would silently keep the last. Expects valid JSON.
 */
export function duplicateKey(json: string): string | undefined {
  const open: (Set<string> | undefined)[] = [];
  for (const [token, key] of json.matchAll(/("(?:[^"\\]|\\.)*")\s*:|"(?:[^"\\]|\\.)*"|[{}[\]]/g)) {
    if (key !== undefined) {
      const name = JSON.parse(key) as string;
      const seen = open.at(-1);
      if (seen?.has(name)) return name;
      seen?.add(name);
    } else if (token === '{') open.push(new Set());
    else if (token === '[') open.push(undefined);
    else if (token === '}' || token === ']') open.pop();
  }
  return undefined;
}
