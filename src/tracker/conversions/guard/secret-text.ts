import { hash, timingSafeEqual } from 'node:crypto';

/** Compares two texts in a time that depends neither on where they differ nor on the length of the first. */
export function sameText(expected: string, given: string): boolean {
  return timingSafeEqual(hash('sha256', expected, 'buffer'), hash('sha256', given, 'buffer'));
}

/** Returns true for a text that is one of several, all of which are compared. */
export function isOneOf(expected: readonly string[], given: string): boolean {
  return expected.reduce((found, each) => sameText(each, given) || found, false);
}
