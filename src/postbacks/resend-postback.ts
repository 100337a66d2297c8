import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import pLimit from 'p-limit';
import type { DataDirectory } from '../kit/config/data-directory.ts';
import { readSettings } from '../kit/config/settings.ts';
import { OfferlineError } from '../kit/errors/errors.ts';
import { programFile } from '../kit/files/package-files.ts';
import { hasStore, isShared, openStore } from './open-store.ts';
import type { ResendOrder, Resent } from './store/query-store.ts';

/** One order at a time: a thread takes megabytes, and the file takes one writer anyway. */
const turns = pLimit(1);
/** Number of orders that may wait for their turn, some seconds of work: one beyond is to be given again later. */
const maxWaiting = 32;

/**
 * Carries a site's order out in the store, on the disk when it returns: the next pass sends. Undefined where the site
 * has no such postback. Throws `OfferlineError` where the store cannot be used, or is another machine's; the same order
 * may be given again. `isWriter` returns whether this machine may be the one that delivers, of those on a storage.
 */
export async function resendPostback(
  data: DataDirectory,
  order: ResendOrder,
  now: number,
  isWriter: (storageUrl: string) => boolean,
): Promise<Resent | undefined> {
  // Read for each order: deliveries may be moved while a service runs.
  const settings = readSettings(data);
  if (isShared(settings)) {
    const store = await openStore(data, settings);
    try {
      return await store.resend(order, now);
    } finally {
      await store.close();
    }
  }
  const { storage } = settings;
  // A file of a machine that wrote before lacks what came since, and no pass reads what is written to it.
  if (storage !== undefined && (storage.follow || !isWriter(storage.url)))
    throw new OfferlineError('this machine serves what another one publishes, and deliveries are kept there');
  if (!hasStore(data, settings)) return undefined;
  if (turns.pendingCount >= maxWaiting)
    throw new OfferlineError(`${maxWaiting} other orders to resend a postback wait already`);
  return turns(() => resendInFile(data.deliveriesFile, order, now));
}

/** In a thread of its own: it may wait seconds for a refresh that writes, and requests do not wait with it. */
async function resendInFile(file: string, order: ResendOrder, now: number): Promise<Resent | undefined> {
  const worker = new Worker(programFile('src/postbacks/store/resend-worker'), { workerData: { file, order, now } });
  try {
    const [resent] = (await once(worker, 'message')) as [Resent | undefined];
    return resent;
  } catch (error) {
    const { message } = error as Error;
    throw error instanceof OfferlineError ? error : new OfferlineError(message, undefined, { cause: error });
  } finally {
    await worker.terminate();
  }
}
