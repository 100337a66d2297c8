/** Concurrent items; more bring nothing, and take descriptors, of which a process has few. */
const maxAtOnce = 16;

/**
 * Does work on files, several items at a time. After a failure it begins no further item, and throws when all have
 * ended, so that no work is under way when the caller cleans up.
 */
export async function severalAtOnce<Item>(
  items: readonly Item[],
  work: (item: Item, index: number) => Promise<void>,
): Promise<void> {
  const queue = items.entries();
  let failed = false;
  const lane = async () => {
    for (const [index, item] of queue) {
      if (failed) return;
      try {
        await work(item, index);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  const lanes = await Promise.allSettled(Array.from({ length: Math.min(maxAtOnce, items.length) }, lane));
  for (const outcome of lanes) if (outcome.status === 'rejected') throw outcome.reason;
}

/** Waits for both, also where one fails, and throws the first of their failures in their order. */
export async function bothToTheirEnd<One, Other>(one: Promise<One>, other: Promise<Other>): Promise<[One, Other]> {
  await Promise.allSettled([one, other]);
  return [await one, await other];
}
