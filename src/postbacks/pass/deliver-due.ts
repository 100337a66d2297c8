import type { Site } from '../../kit/sites/sites.ts';
import type { Terminal } from '../../kit/logging/progress.ts';
import { DeliveryPass } from './delivery-pass.ts';
import type { PassStore, QueueStore } from '../store/queue-store.ts';
import type { PostbackSender } from '../http/sender.ts';

export interface DeliveryRequest extends Terminal {
  store: QueueStore;
  sites: readonly Site[];
  sender: PostbackSender;
  /** The wall clock in milliseconds since the epoch. */
  now: () => number;
  /** From 0 up to 1; spreads retries. */
  random?: () => number;
  /** Time that a slow site may keep a pass. */
  patienceMilliseconds?: number;
  /** Asked before each attempt: false leaves the rest to another pass. */
  mayGoOn?: (() => boolean) | undefined;
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
  /** Number that is neither delivered nor dead after the pass. */
  remaining: number;
}

/**
 * Makes one pass over what is due at its start, to each site at its own pace. An attempt is made only after what went
 * before it in its click is on the disk, and its result follows within milliseconds: a pass that is killed sends again
 * what it had just sent, and nothing else. It does not wait for retries. Where the store is a file, the caller holds
 * the delivery lock.
 */
export async function deliverDue(request: DeliveryRequest): Promise<DeliverySummary> {
  const { store } = request;
  const start = request.now();
  const pass = await store.beginPass(start);
  const total = sum([...pass.due.values()]);
  let counts = { delivered: 0, failed: 0, dead: 0 };
  try {
    if (total > 0) counts = await send(request, pass, start, total);
  } finally {
    await pass.end();
  }
  const postponed = sum((await store.due(start)).map(({ due }) => due));
  return { due: total, ...counts, postponed, remaining: await store.unfinished() };
}

async function send(
  request: DeliveryRequest,
  store: PassStore,
  start: number,
  total: number,
): Promise<DeliveryPass['counts']> {
  const pass = new DeliveryPass(sitesToSendTo(store.due, request), start, { ...request, store });
  request.progress.start('delivering postbacks', total);
  try {
    await pass.run();
    return pass.counts;
  } finally {
    request.progress.finish();
  }
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

/** Finds the sites that can be sent to. Postbacks of a site that is gone or has no address wait until it is back. */
function sitesToSendTo(due: PassStore['due'], { sites, logger }: DeliveryRequest): Site[] {
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
