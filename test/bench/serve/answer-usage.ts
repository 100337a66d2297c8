/**
 * Loaded before a measured server (`node --import`): tells its processor time and memory whenever the bench asks, and ends
 * the server with the bench, however that ends.
 */
import { getHeapSpaceStatistics } from 'node:v8';
import { isMainThread } from 'node:worker_threads';

// Worker threads load this too, and have no parent to talk to.
if (isMainThread) {
  process.on('message', (message) => {
    if (message !== 'usage') return;
    const { user, system } = process.cpuUsage();
    const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
    process.send?.({
      cpuSeconds: (user + system) / 1e6,
      residentBytes: process.memoryUsage.rss(),
      youngBytes: young?.physical_space_size ?? 0,
    });
  });
  process.once('disconnect', () => process.exit());
  // Listening to the bench alone must not keep the server from ending.
  process.channel?.unref();
}
