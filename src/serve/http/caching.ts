/**
 * Times for which clients may keep a response, declared here alone. `private`: credentials stand in the address,
 * so no cache that several clients share may hold one.
 */
export const cacheControl = {
  page: 'private, max-age=60',
  topConverting: 'private, max-age=300',
  /** Files whose address changes with their content. The same for everybody. A year. */
  versioned: 'public, max-age=31536000, immutable',
  /** Responses that describe this moment: errors and status. */
  noStore: 'no-store',
} as const;

/** The top-converting response stays the same for as long as clients may keep it. */
export const topConvertingMilliseconds = 300_000;
