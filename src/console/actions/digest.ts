import { hash } from 'node:crypto';

/** SHA-256 of an action, its parameters and what it would change, in whatever order their keys came. */
export function digestOf(action: string, parameters: unknown, changes: unknown): string {
  return hash('sha256', canonicalJson([action, parameters, changes]));
}

function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) =>
    each !== null && typeof each === 'object' && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : each,
  );
}
