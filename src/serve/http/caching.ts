import type { FastifyCachingPluginOptions } from '@fastify/caching';

/**
 * How long clients may keep an answer, said here alone. `private`: credentials stand in the address,
 * so no cache that several clients share may hold an answer.
 */
export const cacheControl = {
  page: 'private, max-age=60',
  topConverting: 'private, max-age=300',
  /** Files whose address changes with their content. The same for everybody. A year. */
  versioned: 'public, max-age=31536000, immutable',
  /** What describes this moment: errors and status. */
  passing: 'no-store',
} as const;

/** The top-converting answer stays the same for as long as clients may keep it. Milliseconds. */
export const topConvertingHeld = 300_000;

/**
 * For `@fastify/caching`, which adds `Cache-Control` to answers that say nothing of it themselves: these nobody may
 * keep. Pages say it themselves, as the plugin would make their 304s uncacheable. It also answers `If-None-Match` by
 * its own cache, before anybody is identified: this one never holds anything.
 */
export const cachingPlugin: FastifyCachingPluginOptions = {
  privacy: cacheControl.passing,
  cache: {
    get: (_key: unknown, found: (error: unknown, result: null) => void) => found(null, null),
    set: (_key: unknown, _value: unknown, _timeToLive: number, stored?: (error: unknown, result: unknown) => void) =>
      stored?.(null, null),
  } as FastifyCachingPluginOptions['cache'] & object,
};
