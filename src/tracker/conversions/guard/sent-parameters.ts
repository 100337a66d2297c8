import {
  isJsonObject,
  JsonNumber,
  duplicateKey,
  parseJson,
  type JsonObject,
  type JsonValue,
} from '../../../kit/text/json-text.ts';
import { isUtf8 } from 'node:buffer';
import { percentEncoded } from '../../../kit/text/percent-encoded.ts';
import { singleHeader, type ConversionRequest } from './conversion-request.ts';

/** The reason why the parameters of a request are not certain. */
export type ParameterMistake = { error: 'unreadable' | 'repeated'; message: string };

/** Kinds of values of a JSON body that say more than their texts, or have none. */
export const bodyKinds = ['number', 'list', 'object'] as const;
export type BodyKind = (typeof bodyKinds)[number];

/**
 * The parameters of a request, as text and in the order in which they came: those of the query, then those of the body.
 * Where a part cannot be read the rest is here all the same, since a token in it shows whose mistake it is. In a value
 * that is not UTF-8, U+FFFD replaces the bytes: the value may be one that is not needed. A name that is not UTF-8 is
 * percent-encoded where that is possible, so that it differs from others of its kind.
 */
export class SentParameters {
  readonly pairs: readonly (readonly [name: string, value: string])[];
  readonly mistake: ParameterMistake | undefined;
  /** Names of values that are not as they were sent, each with the value percent-encoded as it was. */
  readonly damaged: ReadonlyMap<string, string>;
  /** Names of a JSON body's numbers, lists and objects; the latter two have no text. */
  readonly kinds: ReadonlyMap<string, BodyKind>;
  readonly #values: ReadonlyMap<string, string>;

  constructor(
    pairs: readonly (readonly [string, string])[],
    mistake?: ParameterMistake,
    damaged: ReadonlyMap<string, string> = new Map(),
    kinds: ReadonlyMap<string, BodyKind> = new Map(),
  ) {
    this.pairs = pairs;
    this.damaged = damaged;
    this.kinds = kinds;
    this.#values = new Map(pairs);
    const repeated = this.#values.size < pairs.length;
    this.mistake =
      mistake ?? (repeated ? { error: 'repeated', message: 'a parameter is given twice; send each once' } : undefined);
  }

  static of(request: ConversionRequest): SentParameters {
    const query = formPairs(request.query);
    const body: Pairs = request.method === 'POST' && request.body.length > 0 ? bodyPairs(request) : { pairs: [] };
    const damaged = new Map([...(query.damaged ?? []), ...(body.damaged ?? [])]);
    return new SentParameters([...query.pairs, ...body.pairs], query.mistake ?? body.mistake, damaged, body.kinds);
  }

  /** Reads the body alone. */
  static ofBody(request: ConversionRequest): SentParameters {
    return SentParameters.of({ ...request, query: '' });
  }

  /** Encodes a value as RFC 3986 writes it, byte by byte as it was sent. */
  encoded(name: string, value: string): string {
    return this.damaged.get(name) ?? percentEncoded(value);
  }

  /** Undefined where it is absent or empty. */
  get(name: string): string | undefined {
    return this.#values.get(name) || undefined;
  }
}

/** Replaces bytes that are not UTF-8. */
const damage = '\ufffd';

interface Pairs {
  pairs: [string, string][];
  mistake?: ParameterMistake;
  /** Values percent-encoded as they were sent, by their names. */
  damaged?: Map<string, string>;
  kinds?: Map<string, BodyKind>;
}

function unreadable(message: string): ParameterMistake {
  return { error: 'unreadable', message };
}

/**
 * Reads what a form writes: `&` between pairs, `+` for a space, percent-encoded UTF-8. `text`: a character for each
 * byte, as it came.
 */
function formPairs(text: string): Pairs {
  const pairs: [string, string][] = [];
  const damaged = new Map<string, string>();
  for (const pair of text.replaceAll(/[\x80-\xff]/g, percentEncodedByte).split('&')) {
    const equals = pair.indexOf('=');
    const name = nameOf(equals === -1 ? pair : pair.slice(0, equals));
    if (name === '') continue;
    const written = equals === -1 ? '' : pair.slice(equals + 1);
    const value = decoded(written);
    pairs.push([name, value.text]);
    if (value.isDamaged) damaged.set(name, reencoded(written));
  }
  return { pairs, damaged };
}

/** Decodes percent-encoded UTF-8, and anything else as browsers do: a stray `%` as itself, other bytes as U+FFFD. */
function decoded(encoded: string): { text: string; isDamaged: boolean } {
  try {
    return { text: decodeURIComponent(encoded.replaceAll('+', ' ')), isDamaged: false };
  } catch {
    return { text: new URLSearchParams(`v=${encoded}`).get('v') ?? '', isDamaged: true };
  }
}

function nameOf(encoded: string): string {
  const { text, isDamaged } = decoded(encoded);
  return isDamaged && text.includes(damage) ? reencoded(encoded) : text;
}

function percentEncodedByte(byte: string): string {
  return `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
}

/** Writes the bytes of a form's text as RFC 3986 does. */
function reencoded(written: string): string {
  return written.replaceAll('+', ' ').replaceAll(/%[0-9a-f]{2}|./gisu, (part) => {
    if (part.length < 3) return percentEncoded(part);
    const byte = String.fromCharCode(Number.parseInt(part.slice(1), 16));
    return byte < '\x80' ? percentEncoded(byte) : percentEncodedByte(byte);
  });
}

const utf8 = new TextDecoder();

function bodyPairs({ headers, body, form }: ConversionRequest): Pairs {
  const type = singleHeader(headers, 'content-type')?.split(';', 1)[0]?.trim().toLowerCase();
  if (headers['content-encoding'] !== undefined)
    return { pairs: [], mistake: unreadable('the body is packed; send it as it is') };
  if (type === 'application/x-www-form-urlencoded') return formPairs(body.toString('latin1'));
  if (form !== undefined) return multipartPairs(form, body);
  if (type !== 'application/json')
    return {
      pairs: [],
      mistake: unreadable('the Content-Type of the body is neither application/json nor that of a form'),
    };
  const text = utf8.decode(body);
  const json = parseJson(text);
  if (!isJsonObject(json)) return { pairs: [], mistake: unreadable('the body is not one JSON object') };
  const { pairs, mistake, kinds } = jsonPairs(json);
  const isWhole = isUtf8(body);
  const damaged = isWhole ? new Map<string, string>() : damagedIn(pairs);
  if (mistake !== undefined) return { pairs, mistake, damaged, kinds };
  // Byte by byte, names that are no UTF-8 stay different ones.
  return hasMemberTwice(isWhole ? text : body.toString('latin1'), json)
    ? { pairs, mistake: { error: 'repeated', message: 'the body has a member twice; send each once' }, damaged, kinds }
    : { pairs, damaged, kinds };
}

/** Values of a body that is not UTF-8 which differ from what was sent. */
function damagedIn(pairs: readonly [string, string][]): Map<string, string> {
  const damaged = pairs.filter(([, value]) => value.includes(damage));
  return new Map(damaged.map(([name, value]) => [name, percentEncoded(value)]));
}

/** Reads a form in several parts, without its files. */
function multipartPairs(form: FormData | 'unreadable', body: Buffer): Pairs {
  if (form === 'unreadable')
    return { pairs: [], mistake: unreadable('the body is not what its Content-Type multipart/form-data says') };
  const pairs = [...form].flatMap(([name, value]): [string, string][] =>
    typeof value === 'string' ? [[name, value]] : [],
  );
  if (isUtf8(body)) return { pairs };
  // Two such names may have been the same, or not: the first counts.
  const first = pairs.filter(
    ([name], index) => !name.includes(damage) || pairs.findIndex(([earlier]) => earlier === name) === index,
  );
  return { pairs: first, damaged: damagedIn(first) };
}

/**
 * Bounds objects within objects, and the characters of all names: more is no report, and would take longer to read than
 * to send.
 */
const maxDepth = 16;
const maxNamesLength = 128 * 1024;

/** Reads members as they are written, those of objects within under a path of names, without lists. */
function jsonPairs(json: JsonObject): Pairs & { kinds: Map<string, BodyKind> } {
  const pairs: [string, string][] = [];
  const kinds = new Map<string, BodyKind>();
  let namesLength = 0;
  const read = (object: JsonObject, path: string, depth: number): boolean =>
    depth <= maxDepth &&
    Object.entries(object).every(([key, value]) => {
      const name = `${path}${key}`;
      namesLength += name.length;
      if (namesLength > maxNamesLength) return false;
      const kind = kindOf(value);
      if (kind !== undefined) kinds.set(name, kind);
      if (isJsonObject(value)) return read(value, `${name}.`, depth + 1);
      if (value instanceof JsonNumber) pairs.push([name, value.text]);
      else if (value !== null && !Array.isArray(value)) pairs.push([name, String(value)]);
      return true;
    });
  return read(json, '', 1)
    ? { pairs, kinds }
    : { pairs, kinds, mistake: unreadable('the body is nested too deeply, or has too long names') };
}

function kindOf(value: JsonValue): BodyKind | undefined {
  if (value instanceof JsonNumber) return 'number';
  if (Array.isArray(value)) return 'list';
  return isJsonObject(value) ? 'object' : undefined;
}

/** Returns true for a body with a member twice, and for one that is nested too deeply to be sure. */
function hasMemberTwice(text: string, json: JsonObject): boolean {
  try {
    return duplicateKey(text, json) !== undefined;
  } catch (error) {
    if (error instanceof RangeError) return true;
    throw error;
  }
}
