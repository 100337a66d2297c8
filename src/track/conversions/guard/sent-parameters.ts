import { isJsonObject, JsonNumber, duplicateKey, parseJson, type JsonObject } from '../../../text/json-text.ts';
import { singleHeader, type ConversionRequest } from './conversion-request.ts';

/** Why the parameters of a request cannot be told. */
export type ParameterMistake = { error: 'unreadable' | 'repeated'; message: string };

/**
 * The parameters of a request, as text and in the order in which they came: those of the query, then those of the body.
 * Where a part cannot be read the rest is here all the same, since a token in it tells whose mistake it is.
 */
export class SentParameters {
  readonly pairs: readonly (readonly [name: string, value: string])[];
  readonly mistake: ParameterMistake | undefined;
  readonly #values: ReadonlyMap<string, string>;

  constructor(pairs: readonly (readonly [string, string])[], mistake?: ParameterMistake) {
    this.pairs = pairs;
    this.#values = new Map(pairs);
    const repeated = this.#values.size < pairs.length;
    this.mistake =
      mistake ?? (repeated ? { error: 'repeated', message: 'a parameter is given twice; send each once' } : undefined);
  }

  static of(request: ConversionRequest): SentParameters {
    const query = formPairs(request.query);
    const body = request.method === 'POST' && request.body.length > 0 ? bodyPairs(request) : { pairs: [] };
    return new SentParameters([...query.pairs, ...body.pairs], query.mistake ?? body.mistake);
  }

  /** Those of the body alone. */
  static ofBody(request: ConversionRequest): SentParameters {
    return SentParameters.of({ ...request, query: '' });
  }

  /** Undefined where it is absent or empty. */
  get(name: string): string | undefined {
    return this.#values.get(name) || undefined;
  }
}

interface Pairs {
  pairs: [string, string][];
  mistake?: ParameterMistake;
}

function unreadable(message: string): ParameterMistake {
  return { error: 'unreadable', message };
}

/** Reads what a form writes: `&` between pairs, `+` for a space, percent-encoded UTF-8. */
function formPairs(text: string): Pairs {
  const pairs: [string, string][] = [];
  let mistake: ParameterMistake | undefined;
  for (const pair of text.split('&')) {
    const equals = pair.indexOf('=');
    try {
      const name = decoded(equals === -1 ? pair : pair.slice(0, equals));
      if (name !== '') pairs.push([name, equals === -1 ? '' : decoded(pair.slice(equals + 1))]);
    } catch {
      mistake = unreadable('a parameter is not percent-encoded UTF-8');
    }
  }
  return mistake === undefined ? { pairs } : { pairs, mistake };
}

function decoded(encoded: string): string {
  return decodeURIComponent(encoded.replaceAll('+', ' '));
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function bodyPairs({ headers, body }: ConversionRequest): Pairs {
  const type = singleHeader(headers, 'content-type')?.split(';', 1)[0]?.trim().toLowerCase();
  if (headers['content-encoding'] !== undefined)
    return { pairs: [], mistake: unreadable('the body is packed; send it as it is') };
  let text: string;
  try {
    text = utf8.decode(body);
  } catch {
    return { pairs: [], mistake: unreadable('the body is not UTF-8') };
  }
  if (type === 'application/x-www-form-urlencoded') return formPairs(text);
  if (type !== 'application/json')
    return {
      pairs: [],
      mistake: unreadable('the Content-Type of the body is neither application/json nor that of a form'),
    };
  const json = parseJson(text);
  if (!isJsonObject(json)) return { pairs: [], mistake: unreadable('the body is not one JSON object') };
  const { pairs, mistake } = jsonPairs(json);
  if (mistake !== undefined) return { pairs, mistake };
  return hasMemberTwice(text, json)
    ? { pairs, mistake: { error: 'repeated', message: 'the body has a member twice; send each once' } }
    : { pairs };
}

/**
 * Objects within objects, and characters of all names: more is no report, and would take longer to look at than to
 * send.
 */
const deepest = 16;
const longestNames = 128 * 1024;

/** Members as they are written, those of objects within under a path of names; lists mean nothing to us. */
function jsonPairs(json: JsonObject): Pairs {
  const pairs: [string, string][] = [];
  let namesLength = 0;
  const read = (object: JsonObject, path: string, depth: number): boolean =>
    depth <= deepest &&
    Object.entries(object).every(([key, value]) => {
      const name = `${path}${key}`;
      namesLength += name.length;
      if (namesLength > longestNames) return false;
      if (isJsonObject(value)) return read(value, `${name}.`, depth + 1);
      if (value instanceof JsonNumber) pairs.push([name, value.text]);
      else if (value !== null && !Array.isArray(value)) pairs.push([name, String(value)]);
      return true;
    });
  return read(json, '', 1)
    ? { pairs }
    : { pairs, mistake: unreadable('the body is nested too deeply, or has too long names') };
}

/** Lists that are nested too deeply to be looked through may have one. */
function hasMemberTwice(text: string, json: JsonObject): boolean {
  try {
    return duplicateKey(text, json) !== undefined;
  } catch (error) {
    if (error instanceof RangeError) return true;
    throw error;
  }
}
