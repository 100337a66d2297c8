import type { FastifyCachingPluginOptions } from '@fastify/caching';

/**
 * How long clients may keep a response, said here alone. `private`: credentials stand in the address,
 * so no cache that several clients share may hold one.
 */
export const cacheControl = {
  page: 'private, max-age=60',
  topConverting: 'private, max-age=300',
  /** Files whose address changes with their content. The same for everybody. A year. */
  versioned: 'public, max-age=31536000, immutable',
  /** What describes this moment: errors and status. */
  noStore: 'no-store',
} as const;

/** The top-converting response stays the same for as long as clients may keep it. */
export const topConvertingMilliseconds = 300_000;

/**
 * For `@fastify/caching`: what says nothing of keeping, nobody may keep. Our own responses all say it themselves, since
 * the plugin would make 304s and redirects uncacheable; so this holds for what Fastify or a plugin answers by itself.
 */
export const cachingPlugin: FastifyCachingPluginOptions = { privacy: cacheControl.noStore };
