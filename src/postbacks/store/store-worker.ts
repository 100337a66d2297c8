import { parentPort, workerData } from 'node:worker_threads';
import { DamagedDeliveriesError, DeliveryDatabase } from './delivery-database.ts';
import { DeliveryQueue } from './delivery-queue.ts';
import type { PassUpdate } from './queue-store.ts';

const queue = new DeliveryQueue(new DeliveryDatabase(workerData as string));
parentPort?.on('message', (update: PassUpdate) => {
  try {
    parentPort?.postMessage(queue.apply(update));
  } catch (error) {
    // An error of ours would come as a bare one.
    parentPort?.postMessage(error instanceof DamagedDeliveriesError ? { damaged: error.message } : error);
  }
});
