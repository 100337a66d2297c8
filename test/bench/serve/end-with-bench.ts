/** Loaded before a measured server (`node --import`): ends the server with the bench, however that ends. */
import { isMainThread } from 'node:worker_threads';

// Worker threads load this too, and have no parent to listen to.
if (isMainThread) {
  process.once('disconnect', () => process.exit());
  // Listening to the bench alone must not keep the server from ending.
  process.channel?.unref();
}
