import { z } from 'zod';

/** Names of types, as a person says them. */
const wanted: Readonly<Record<string, string>> = {
  string: 'a text in quotes',
  number: 'a number without quotes',
  int: 'a whole number without quotes',
  boolean: 'true or false without quotes',
  object: 'an object in braces',
  record: 'an object in braces',
  array: 'a list in brackets',
  null: 'null',
};

/**
 * Zod's option `error`: says in plain words what is there and what is wanted, as the rest of a sentence that begins
 * with the key. Shows no value. A schema's own message comes before it.
 */
export function describeIssue(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined
        ? `is missing: ${wantedType(issue.expected)} is wanted`
        : `is ${kindOf(issue.input)}: ${wantedType(issue.expected)} is wanted`;
    case 'invalid_value':
      return issue.input === undefined
        ? `is missing: ${listed(issue.values)} is wanted`
        : `is not ${listed(issue.values)}`;
    case 'too_small':
      return amount(
        issue.origin,
        `${issue.minimum}`,
        issue.inclusive === false ? 'not more than' : 'less than',
        'fewer than',
      );
    case 'too_big':
      return amount(
        issue.origin,
        `${issue.maximum}`,
        issue.inclusive === false ? 'not less than' : 'more than',
        'more than',
      );
    case 'unrecognized_keys':
      return `has ${issue.keys.length === 1 ? 'a key' : 'keys'} that nothing reads: ${issue.keys.join(', ')}${knownKeys(issue)}`;
    case 'invalid_format':
      return issue.format === 'url'
        ? 'is not an address such as https://name.example'
        : `does not have the form that is wanted`;
    case 'invalid_union':
      return describeUnion(issue);
    case 'invalid_key':
      return issue.issues[0]?.message;
    case 'custom':
    case 'invalid_element':
    case 'not_multiple_of':
    default:
      return undefined;
  }
}

function wantedType(expected: string): string {
  return wanted[expected] ?? expected;
}

/** What a value is, without the value. */
function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'string') return value === '' ? 'an empty text' : 'a text';
  if (typeof value === 'number') return Number.isInteger(value) ? 'a whole number' : 'a number with a fraction';
  return typeof value === 'object' ? 'an object' : `${typeof value === 'boolean' ? value : typeof value}`;
}

function listed(values: readonly unknown[]): string {
  const texts = values.map((value) => JSON.stringify(value));
  const last = texts.pop() ?? '';
  return texts.length === 0 ? last : `${texts.join(', ')} or ${last}`;
}

function amount(origin: string, bound: string, than: string, countThan: string): string {
  if (origin === 'string')
    return bound === '1' && countThan === 'fewer than' ? 'is empty' : `has ${countThan} ${bound} characters`;
  if (origin === 'array' || origin === 'set')
    return bound === '1' && countThan === 'fewer than' ? 'is empty' : `has ${countThan} ${bound} entries`;
  return `is ${than} ${bound}`;
}

/** Keys that an object may have, where there are few enough to help. */
function knownKeys({ inst }: z.core.$ZodRawIssue): string {
  const shape: unknown = inst instanceof z.ZodObject ? inst.shape : undefined;
  const names = typeof shape === 'object' && shape !== null ? Object.keys(shape) : [];
  return names.length === 0 || names.length > 40 ? '' : `; there are ${names.join(', ')}`;
}

/** The problems of the alternative that comes nearest: what they say is within the value, not about its type. */
function describeUnion(issue: z.core.$ZodRawIssue<z.core.$ZodIssueInvalidUnion>): string | undefined {
  const depth = (issues: readonly z.core.$ZodIssue[]) => Math.max(0, ...issues.map(({ path }) => path.length));
  const [nearest] = issue.errors.filter((issues) => depth(issues) > 0);
  if (nearest !== undefined)
    return nearest
      .map(({ path, message }) => `${z.core.toDotPath(path)} ${message}`)
      .join(', ')
      .replace(/^/, 'has a mistake: ');
  const types = issue.errors.flatMap(([first]) => (first?.code === 'invalid_type' ? [wantedType(first.expected)] : []));
  const others = issue.errors.flatMap(([first]) =>
    first !== undefined && first.code !== 'invalid_type' ? [first.message] : [],
  );
  if (others.length > 0) return others[0];
  if (types.length === 0) return undefined;
  return `is ${issue.input === undefined ? 'missing' : kindOf(issue.input)}: ${[...new Set(types)].join(' or ')} is wanted`;
}
