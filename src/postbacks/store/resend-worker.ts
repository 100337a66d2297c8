import { parentPort, workerData } from 'node:worker_threads';
import { DeliveryDatabase } from './delivery-database.ts';
import { DeliveryList } from './delivery-list.ts';
import type { ResendOrder } from './query-store.ts';

const { file, order, now } = workerData as { file: string; order: ResendOrder; now: number };
const database = new DeliveryDatabase(file);
try {
  parentPort?.postMessage(new DeliveryList(database).resend(order, now));
} finally {
  database.close();
}
