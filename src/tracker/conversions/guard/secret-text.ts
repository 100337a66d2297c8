import { hash, timingSafeEqual } from 'node:crypto';

/** Whether two texts are the same, in a time that tells nothing of where they differ, nor how long the first is. */
export function sameText(expected: string, given: string): boolean {
  return timingSafeEqual(hash('sha256', expected, 'buffer'), hash('sha256', given, 'buffer'));
}

/** Whether a text is one of several, all of which are looked at. */
export function isOneOf(expected: readonly string[], given: string): boolean {
  return expected.reduce((found, each) => sameText(each, given) || found, false);
}
