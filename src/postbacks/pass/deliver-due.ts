import type { Site } from '../../sites/sites.ts';
import type { Console } from '../../logging/progress.ts';
import { DeliveryPass } from './delivery-pass.ts';
import { DeliveryQueue, type PassUpdate } from '../store/delivery-queue.ts';
import type { DeliveryStore } from '../store/delivery-store.ts';
import type { PostbackSender } from '../http/sender.ts';
import { StoreThread } from '../store/store-thread.ts';

/** With fewer due, starting a thread costs more than waiting for the disk. */
const minThreadPostbacks = 1000;

export interface DeliveryRequest extends Console {
  store: DeliveryStore;
  sites: readonly Site[];
  sender: PostbackSender;
  /** The wall clock in milliseconds since the epoch. */
  now: () => number;
  /** From 0 up to 1; spreads retries. */
  random?: () => number;
  /** How long a slow site may keep a pass. */
  patienceMilliseconds?: number;
}

export interface DeliverySummary {
  /** Postbacks whose time had come when the pass began. */
  due: number;
  delivered: number;
  /** Failed attempts after which another is planned. */
  failed: number;
  /** Given up in this pass; `postbacks retry` revives them. */
  dead: number;
  /** Due, and left to a later pass: their site pauses or has no address now, or an event of their click goes first. */
  postponed: number;
  /** Neither delivered nor dead after the pass. */
  remaining: number;
}

/**
 * One pass over what is due at its start, to each site at its own pace. An attempt is made only after what went before
 * it in its click is on the disk, and its result follows within milliseconds: a pass that is killed sends again what it
 * had just sent, and nothing else. It does not wait for retries. The caller holds the delivery lock.
 */
export async function deliverDue(request: DeliveryRequest): Promise<DeliverySummary> {
  const queue = new DeliveryQueue(request.store.database);
  const start = request.now();
  queue.freeClaimed();
  queue.clampDueTimes(start);
  const due = queue.dueBySite(start);
  const total = sum(due);
  const counts = total === 0 ? { delivered: 0, failed: 0, dead: 0 } : await send(request, queue, start, due);
  return { due: total, ...counts, postponed: sum(queue.dueBySite(start)), remaining: queue.unfinished() };
}

async function send(
  request: DeliveryRequest,
  queue: DeliveryQueue,
  start: number,
  due: Map<string, number>,
): Promise<DeliveryPass['counts']> {
  const total = sum(due);
  const thread = total < minThreadPostbacks ? undefined : new StoreThread(request.store.database.file);
  const apply = async (each: PassUpdate) => (thread === undefined ? queue.apply(each) : thread.apply(each));
  const pass = new DeliveryPass(sitesToSendTo(due, request), start, queue.openCircuits(), { ...request, apply });
  request.progress.start('delivering postbacks', total);
  try {
    await pass.run();
    return pass.counts;
  } finally {
    request.progress.finish();
    await thread?.close();
  }
}

function sum(due: Map<string, number>): number {
  return [...due.values()].reduce((total, each) => total + each, 0);
}

/** What is due to a site that is gone or has no address waits until that is there again. */
function sitesToSendTo(due: Map<string, number>, { sites, logger }: DeliveryRequest): Site[] {
  const known = new Map(sites.map((site) => [site.site_key, site]));
  return [...due].flatMap(([siteKey, postbacks]) => {
    const site = known.get(siteKey);
    if (site?.postback !== undefined) return [site];
    logger.warn(
      { site: siteKey, postbacks },
      `site ${siteKey} ${site === undefined ? 'is not in sites.json any more' : 'has no postback address now'}: its postbacks wait until it has one`,
    );
    return [];
  });
}
