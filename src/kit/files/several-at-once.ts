/** More bring nothing, and take descriptors, of which a process has few. */
const mostAtOnce = 16;

/**
 * Does work on files, one item after the other in a few lanes. Where one fails no other is begun, and only when all
 * have ended does it throw: whoever cleans up next must find none on its way.
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
  const lanes = await Promise.allSettled(Array.from({ length: Math.min(mostAtOnce, items.length) }, lane));
  for (const outcome of lanes) if (outcome.status === 'rejected') throw outcome.reason;
}
