import { parentPort, workerData } from 'node:worker_threads';
import { DeliveryDatabase } from './delivery-database.ts';
import { DeliveryQueue, type Turn } from './delivery-queue.ts';

const queue = new DeliveryQueue(new DeliveryDatabase(workerData as string));
parentPort?.on('message', (turn: Turn) => {
  try {
    parentPort?.postMessage(queue.turn(turn));
  } catch (error) {
    parentPort?.postMessage(error);
  }
});
