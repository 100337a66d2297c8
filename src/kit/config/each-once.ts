import type { z } from 'zod';

/** Returns a check of a list: names the second entry that has the same name under `key` as one before it. */
export function eachOnce<Key extends string>(key: Key) {
  return (entries: readonly Readonly<Record<Key, string>>[], context: z.RefinementCtx): void => {
    const seen = new Set<string>();
    for (const [index, { [key]: name }] of entries.entries()) {
      if (seen.has(name))
        context.addIssue({ code: 'custom', path: [index, key], message: 'is that of an entry before it, too' });
      seen.add(name);
    }
  };
}
