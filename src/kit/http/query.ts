import { ApiError } from './errors.ts';
import type { ApiErrorKind } from './errors.ts';

/** A name that stood more than once in the query: which one was meant cannot be known. */
export const repeated = Symbol('repeated');
/** A value whose percent-encoding is broken or is not UTF-8. */
export const undecodable = Symbol('undecodable');

export type QueryValue = string | typeof repeated | typeof undecodable;

/**
 * The query string by name, as text: nothing is coerced. An empty value counts as absent and is not here. A map, since
 * names come from clients: none of them has a meaning to the language, and an object of ever new names costs twice as
 * much.
 */
export type Query = ReadonlyMap<string, QueryValue>;

/** Reads a query string as a form writes it: `&` between pairs, `+` for a space, percent-encoded UTF-8. */
export function parseQuery(sent: string): Query {
  const query = new Map<string, QueryValue>();
  const read = /[%+]/.test(sent) ? decode : asItStands;
  let hasEmpty = false;
  for (let from = 0, end = 0; from < sent.length; from = end + 1) {
    end = sent.indexOf('&', from);
    if (end === -1) end = sent.length;
    const pair = sent.slice(from, end);
    const equals = pair.indexOf('=');
    const name = read(equals === -1 ? pair : pair.slice(0, equals));
    if (name === undecodable || name === '') continue;
    const value = equals === -1 ? '' : read(pair.slice(equals + 1));
    if (value === '') hasEmpty = true;
    query.set(name, query.has(name) ? repeated : value);
  }
  // Only now: a name that is given once more is repeated, also where its first value is empty.
  if (hasEmpty) for (const [name, value] of query) if (value === '') query.delete(name);
  return query;
}

function asItStands(encoded: string): string {
  return encoded;
}

function decode(encoded: string): string | typeof undecodable {
  try {
    return decodeURIComponent(encoded.replaceAll('+', ' '));
  } catch {
    return undecodable;
  }
}

/** The largest integer that any parameter may be. */
const largestInteger = 2 ** 31 - 1;

/** A parameter of the query as publishers are told of it. */
export interface DescribedParameter {
  readonly name: string;
  readonly description: string;
  /** One that is not may also be empty, which is the same as absent. */
  readonly required: boolean;
  /** JSON Schema of the value. */
  readonly schema: object;
}

/** A parameter that is read by the rule that its description tells. */
export interface Parameter<Value> extends DescribedParameter {
  /** Undefined where it is absent or empty. Throws `ApiError`. */
  read(query: Query): Value | undefined;
}

/** What a text must be to be a value, for readers and for the check. */
interface Rule<Value> {
  schema: object;
  /** Undefined for a text that is none. */
  valueOf(text: string): Value | undefined;
  /** What is said of such a text. */
  mistake: string;
  errorKind?: ApiErrorKind;
}

export function parameter<Value>(name: string, description: string, rule: Rule<Value>): Parameter<Value> {
  return {
    name,
    description,
    required: false,
    schema: rule.schema,
    read(query) {
      const sent = readText(query, name);
      if (sent === undefined) return undefined;
      const value = rule.valueOf(sent);
      if (value === undefined) throw new ApiError(rule.errorKind ?? 'wrong_parameter', rule.mistake);
      return value;
    },
  };
}

/** A parameter's text; undefined where it is absent or empty. Throws `ApiError` where it cannot be told what it is. */
function readText(query: Query, name: string): string | undefined {
  const value = query.get(name);
  if (value === repeated) throw new ApiError('wrong_parameter', `${name} is given more than once; send it once`);
  if (value === undecodable) throw new ApiError('wrong_parameter', `${name} is not percent-encoded UTF-8`);
  return value;
}

/** Any text. */
export function text(name: string, description: string): Parameter<string> {
  return parameter(name, description, {
    schema: { type: 'string', minLength: 1 },
    valueOf: (value) => value,
    mistake: `${name} is any text`,
  });
}

/** A text in the form of a regular expression, as JSON Schema has them. */
export function pattern(name: string, description: string, form: string, mistake: string): Parameter<string> {
  const expression = new RegExp(form, 'u');
  return parameter(name, description, {
    schema: { type: 'string', pattern: form },
    valueOf: (value) => (expression.test(value) ? value : undefined),
    mistake,
  });
}

/** Plain digits within bounds. */
export function integer(name: string, description: string, from: number, to = largestInteger): Parameter<number> {
  return parameter(name, description, {
    schema: { type: 'integer', minimum: from, maximum: to },
    valueOf(digits) {
      const value = /^\d+$/.test(digits) ? Number(digits) : Number.NaN;
      return value >= from && value <= to ? value : undefined;
    },
    mistake: `${name} must be an integer from ${from} to ${to}, written in plain digits`,
  });
}

/** One word of a list, in exactly that spelling. */
export function choice<Word extends string>(
  name: string,
  description: string,
  words: readonly Word[],
): Parameter<Word> {
  return parameter(name, description, {
    schema: { type: 'string', enum: words },
    valueOf: (value) => words.find((word) => word === value),
    mistake: `${name} must be one of ${words.join(', ')}`,
  });
}

/** The same parameter where a request cannot do without it. */
export function required<Value>(optional: Parameter<Value>): Parameter<Value> {
  return { ...optional, required: true };
}

/**
 * The same parameter with what stands for it where it is absent; the caller puts it there, since an alias may come
 * first.
 */
export function withDefault<Value>(
  optional: Parameter<Value>,
  otherwise: Value,
): Parameter<Value> & { readonly otherwise: Value } {
  return { ...optional, schema: { ...optional.schema, default: otherwise }, otherwise };
}

/** `offer`: single-reward offers; `multireward`: those with milestones. */
export type OfferType = 'offer' | 'multireward';

const offerTypes: readonly OfferType[] = ['offer', 'multireward'];

/** `type` has error codes of its own. */
export const offerType = parameter<OfferType>('type', 'Single-reward or multireward offers', {
  schema: { type: 'string', enum: offerTypes },
  valueOf: (value) => offerTypes.find((type) => type === value),
  mistake: `type must be ${offerTypes.join(' or ')}`,
  errorKind: 'wrong_type',
});
