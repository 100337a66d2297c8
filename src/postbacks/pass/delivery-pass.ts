import type { Site } from '../../kit/sites/sites.ts';
import { momentOfMilliseconds } from '../../kit/time/moment.ts';
import type { Terminal } from '../../kit/logging/progress.ts';
import { CircuitBreaker, type OpenCircuit } from '../rules/circuit-breaker.ts';
import type { ClaimedPostback, FinishedAttempt, PassStore, PassUpdate, TakenSite } from '../store/queue-store.ts';
import type { Outcome } from '../rules/outcome.ts';
import type { PostbackSender } from '../http/sender.ts';
import { SiteQueue } from './site-queue.ts';

/** Sites sent to at a time: with the requests of each this stays within the files that a process may have open. */
const maxOpenSites = 256;

/** Results are written down together, since a commit waits for the disk. */
const maxUnwrittenMilliseconds = 50;
const maxUnwritten = 1024;

/** Time between two looks at how many others deliver. */
const shareMilliseconds = 250;

/** Time that a slow site may keep a pass: two deadlines. */
const defaultPatienceMilliseconds = 30_000;

export interface PassEffects extends Terminal {
  sender: PostbackSender;
  /** Milliseconds since the epoch. */
  now: () => number;
  random?: (() => number) | undefined;
  patienceMilliseconds?: number | undefined;
  /** Asked before each attempt: false leaves the rest to another pass. */
  mayGoOn?: (() => boolean) | undefined;
  store: PassStore;
}

/** A site's queue, and what the store knows of it. */
interface OpenSite {
  queue: SiteQueue;
  keptCircuit: OpenCircuit | undefined;
  /** Claimed, and not written down yet how it ended. */
  outstanding: number;
  /** The last claim gave less than asked for: only an event that ends can release another of its click. */
  exhausted: boolean;
  failed: number;
  lastFailure?: Outcome;
}

/**
 * Claims, sends and records by updates of the store: one transaction writes down what has ended since the last one and
 * claims what that makes room for. So nothing is sent before what went before it in its click is on the disk.
 */
export class DeliveryPass {
  readonly counts = { delivered: 0, failed: 0, dead: 0 };
  readonly #sitesAhead: Map<string, Site>;
  readonly #dueBy: number;
  readonly #effects: PassEffects;
  readonly #sites = new Map<string, OpenSite>();
  #finished: FinishedAttempt[] = [];
  #unsent: ClaimedPostback[] = [];
  #wake = Promise.withResolvers<void>();
  #timer: NodeJS.Timeout | undefined;
  /** Sites that this pass may have open, and when it looks again. */
  #share = maxOpenSites;
  #shareUntil = 0;
  /** Sites may be free that it does not have. */
  #mayTake = true;

  /** Sends what was due at that moment, in milliseconds since the epoch, to those sites. */
  constructor(sites: readonly Site[], dueBy: number, effects: PassEffects) {
    this.#sitesAhead = new Map(sites.map((site) => [site.site_key, site]));
    this.#dueBy = dueBy;
    this.#effects = effects;
  }

  async run(): Promise<void> {
    const { lost } = this.#effects.store;
    const stop = () => {
      this.#stopAll();
      // The next update throws the reason.
      this.#wake.resolve();
    };
    lost.addEventListener('abort', stop);
    try {
      await this.#update();
      while (this.#sites.size > 0 || (this.#mayTake && this.#sitesAhead.size > 0)) {
        // Only sites that are still open can ask for an update; where none is open, all are paused.
        if (this.#sites.size > 0) await this.#wake.promise;
        await this.#update();
      }
    } finally {
      lost.removeEventListener('abort', stop);
      this.#stopAll();
      clearTimeout(this.#timer);
    }
  }

  /** After a store that failed nothing more may be sent: the sites may be another's by now. */
  #stopAll(): void {
    for (const { queue } of this.#sites.values()) queue.stop();
  }

  /** Leaves what is more than this pass's part to the others, or takes more where others have ended. */
  async #lookAtShare(): Promise<void> {
    if (performance.now() < this.#shareUntil) return;
    this.#shareUntil = performance.now() + shareMilliseconds;
    this.#share = Math.min(maxOpenSites, await this.#effects.store.share(this.#sites.size + this.#sitesAhead.size));
    for (const { queue } of [...this.#sites.values()].slice(this.#share)) queue.stop();
    if (this.#sites.size < this.#share) this.#mayTake = true;
  }

  async #openSites(): Promise<OpenSite[]> {
    const room = this.#share - this.#sites.size;
    if (!this.#mayTake || room <= 0 || this.#sitesAhead.size === 0) return [];
    this.#mayTake = false;
    const taken = await this.#effects.store.takeSites([...this.#sitesAhead.keys()], room);
    return taken.map((each) => this.#openSite(each));
  }

  #openSite({ siteKey, circuit: keptCircuit }: TakenSite): OpenSite {
    const site = this.#sitesAhead.get(siteKey) as Site;
    this.#sitesAhead.delete(siteKey);
    const { store, sender, now, random = Math.random } = this.#effects;
    const { patienceMilliseconds = defaultPatienceMilliseconds } = this.#effects;
    const queue = new SiteQueue(site, new CircuitBreaker(keptCircuit, now()), {
      sender,
      now,
      random,
      patienceMilliseconds,
      mayGoOn: () => store.isSure && this.#effects.mayGoOn?.() !== false,
      onFinished: (attempt) => {
        this.#finished.push(attempt);
        this.#requestUpdate(open);
      },
      onUnsent: (claimed) => {
        this.#unsent.push(claimed);
        this.#requestUpdate(open);
      },
    });
    const open: OpenSite = { queue, keptCircuit, outstanding: 0, exhausted: false, failed: 0 };
    this.#sites.set(site.site_key, open);
    return open;
  }

  /** Asks for an update: at once when the queue could send more or much has come together, else in a while. */
  #requestUpdate({ queue, exhausted }: OpenSite): void {
    const unwritten = this.#finished.length + this.#unsent.length;
    if (unwritten >= maxUnwritten || (queue.canSendMore && !exhausted)) this.#wake.resolve();
    else this.#timer ??= setTimeout(() => this.#wake.resolve(), maxUnwrittenMilliseconds);
  }

  async #update(): Promise<void> {
    await this.#lookAtShare();
    const opened = await this.#openSites();
    const [finished, unsent] = [this.#finished, this.#unsent];
    [this.#finished, this.#unsent] = [[], []];
    this.#wake = Promise.withResolvers();
    clearTimeout(this.#timer);
    this.#timer = undefined;

    const touched = new Set(opened);
    for (const { siteKey } of finished) touched.add(this.#endOne(siteKey));
    for (const { postback } of unsent) touched.add(this.#endOne(postback.siteKey));
    const circuits = [...touched].flatMap((open) => changedCircuit(open));
    const asking = [...touched].filter(({ queue }) => queue.room > 0);
    const claims = asking.map(({ queue }) => ({ siteKey: queue.site.site_key, dueBy: this.#dueBy, limit: queue.room }));
    const claimed = await this.#effects.store.apply({ finished, unsent, circuits, claims });

    for (const each of finished) this.#count(each);
    this.#effects.progress.advance(this.counts.delivered + this.counts.failed + this.counts.dead);
    asking.forEach((open, index) => {
      const next = claimed[index] ?? [];
      open.outstanding += next.length;
      open.exhausted = next.length < (claims[index]?.limit ?? 0);
      open.queue.add(next);
    });
    const closed = [...touched].filter(({ outstanding }) => outstanding === 0);
    for (const open of closed) this.#close(open);
    if (closed.length > 0) await this.#effects.store.leaveSites(closed.map(({ queue }) => queue.site.site_key));
  }

  #endOne(siteKey: string): OpenSite {
    const open = this.#sites.get(siteKey) as OpenSite;
    open.outstanding -= 1;
    return open;
  }

  #count({ siteKey, state, outcome }: FinishedAttempt): void {
    this.counts[state === 'pending' ? 'failed' : state] += 1;
    if (state === 'delivered') return;
    const open = this.#sites.get(siteKey) as OpenSite;
    open.failed += 1;
    open.lastFailure = outcome;
  }

  #close({ queue, failed, lastFailure }: OpenSite): void {
    const { logger } = this.#effects;
    const { breaker } = queue;
    const { site_key: site } = queue.site;
    this.#sites.delete(site);
    this.#mayTake = true;
    if (queue.wasStopped) this.#sitesAhead.set(site, queue.site);
    if (lastFailure !== undefined) {
      const { host, status, error } = lastFailure;
      logger.warn({ site, failed, host, status, error }, `postbacks to site ${site} failed, the last by ${error}`);
    }
    if (breaker.stopped)
      logger.warn(
        { site, until: momentOfMilliseconds(breaker.open?.pausedUntil ?? 0) },
        `site ${site} does not answer: the rest of its postbacks waits`,
      );
  }
}

/** State of a site's circuit breaker that the store does not know yet. */
function changedCircuit(open: OpenSite): PassUpdate['circuits'] {
  const { breaker, site } = open.queue;
  if (breaker.open === open.keptCircuit) return [];
  open.keptCircuit = breaker.open;
  return [{ siteKey: site.site_key, open: breaker.open ?? null }];
}
