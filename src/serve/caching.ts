/**
 * How long clients may keep an answer, said here alone. `private`: credentials stand in the address,
 * so no cache that several clients share may hold an answer.
 */
export const cacheControl = {
  page: 'private, max-age=60',
  topConverting: 'private, max-age=300',
  /** What describes this moment: errors and status. */
  passing: 'no-store',
} as const;

/** The top-converting answer stays the same for as long as clients may keep it. Milliseconds. */
export const topConvertingHeld = 300_000;
