import type { Site } from '../../kit/sites/sites.ts';
import { momentOfMilliseconds } from '../../kit/time/moment.ts';
import type { Terminal } from '../../kit/logging/progress.ts';
import { CircuitBreaker, type OpenCircuit } from '../rules/circuit-breaker.ts';
import type { ClaimedPostback, FinishedAttempt, PassStore, PassUpdate, TakenSite } from '../store/delivery-store.ts';
import type { Outcome } from '../rules/outcome.ts';
import type { PostbackSender } from '../http/sender.ts';
import { SiteLane } from './site-lane.ts';

/** Sites sent to at a time: with the requests of each this stays within the files that a process may have open. */
const maxLanes = 256;

/** Results are written down together, since a commit waits for the disk. */
const maxUnwrittenMilliseconds = 50;
const maxUnwritten = 1024;

/** How often it looks how many others there are to send. */
const shareMilliseconds = 250;

/** How long a slow site may keep a pass: two deadlines. */
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

/** A lane, and what the store knows of it. */
interface OpenLane {
  lane: SiteLane;
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
  readonly #lanes = new Map<string, OpenLane>();
  #finished: FinishedAttempt[] = [];
  #unsent: ClaimedPostback[] = [];
  #wake = Promise.withResolvers<void>();
  #timer: NodeJS.Timeout | undefined;
  /** Lanes that this pass may have open, and when it looks again. */
  #share = maxLanes;
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
      this.#leaveAll();
      // The next update tells why.
      this.#wake.resolve();
    };
    lost.addEventListener('abort', stop);
    try {
      await this.#update();
      while (this.#lanes.size > 0 || (this.#mayTake && this.#sitesAhead.size > 0)) {
        // Only lanes that are still open can ask for an update; where none is open, all are paused.
        if (this.#lanes.size > 0) await this.#wake.promise;
        await this.#update();
      }
    } finally {
      lost.removeEventListener('abort', stop);
      this.#leaveAll();
      clearTimeout(this.#timer);
    }
  }

  /** After a store that failed nothing more may be sent: the sites may be another's by now. */
  #leaveAll(): void {
    for (const { lane } of this.#lanes.values()) lane.leave();
  }

  /** Leaves what is more than this pass's part to the others, or takes more where others have ended. */
  async #lookAtShare(): Promise<void> {
    if (performance.now() < this.#shareUntil) return;
    this.#shareUntil = performance.now() + shareMilliseconds;
    this.#share = Math.min(maxLanes, await this.#effects.store.share(this.#lanes.size + this.#sitesAhead.size));
    for (const { lane } of [...this.#lanes.values()].slice(this.#share)) lane.leave();
    if (this.#lanes.size < this.#share) this.#mayTake = true;
  }

  async #openLanes(): Promise<OpenLane[]> {
    const room = this.#share - this.#lanes.size;
    if (!this.#mayTake || room <= 0 || this.#sitesAhead.size === 0) return [];
    this.#mayTake = false;
    const taken = await this.#effects.store.takeSites([...this.#sitesAhead.keys()], room);
    return taken.map((each) => this.#openLane(each));
  }

  #openLane({ siteKey, circuit: keptCircuit }: TakenSite): OpenLane {
    const site = this.#sitesAhead.get(siteKey) as Site;
    this.#sitesAhead.delete(siteKey);
    const { store, sender, now, random = Math.random } = this.#effects;
    const { patienceMilliseconds = defaultPatienceMilliseconds } = this.#effects;
    const lane = new SiteLane(site, new CircuitBreaker(keptCircuit, now()), {
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
    const open: OpenLane = { lane, keptCircuit, outstanding: 0, exhausted: false, failed: 0 };
    this.#lanes.set(site.site_key, open);
    return open;
  }

  /** Asks for an update: at once when a lane could send more or much has come together, else in a while. */
  #requestUpdate({ lane, exhausted }: OpenLane): void {
    const unwritten = this.#finished.length + this.#unsent.length;
    if (unwritten >= maxUnwritten || (lane.isDry && !exhausted)) this.#wake.resolve();
    else this.#timer ??= setTimeout(() => this.#wake.resolve(), maxUnwrittenMilliseconds);
  }

  async #update(): Promise<void> {
    await this.#lookAtShare();
    const opened = await this.#openLanes();
    const [finished, unsent] = [this.#finished, this.#unsent];
    [this.#finished, this.#unsent] = [[], []];
    this.#wake = Promise.withResolvers();
    clearTimeout(this.#timer);
    this.#timer = undefined;

    const touched = new Set(opened);
    for (const { siteKey } of finished) touched.add(this.#endOne(siteKey));
    for (const { postback } of unsent) touched.add(this.#endOne(postback.siteKey));
    const circuits = [...touched].flatMap((open) => changedCircuit(open));
    const asking = [...touched].filter(({ lane }) => lane.room > 0);
    const claims = asking.map(({ lane }) => ({ siteKey: lane.site.site_key, dueBy: this.#dueBy, limit: lane.room }));
    const claimed = await this.#effects.store.apply({ finished, unsent, circuits, claims });

    for (const each of finished) this.#count(each);
    this.#effects.progress.advance(this.counts.delivered + this.counts.failed + this.counts.dead);
    asking.forEach((open, index) => {
      const next = claimed[index] ?? [];
      open.outstanding += next.length;
      open.exhausted = next.length < (claims[index]?.limit ?? 0);
      open.lane.take(next);
    });
    const closed = [...touched].filter(({ outstanding }) => outstanding === 0);
    for (const open of closed) this.#close(open);
    if (closed.length > 0) await this.#effects.store.leaveSites(closed.map(({ lane }) => lane.site.site_key));
  }

  #endOne(siteKey: string): OpenLane {
    const open = this.#lanes.get(siteKey) as OpenLane;
    open.outstanding -= 1;
    return open;
  }

  #count({ siteKey, state, outcome }: FinishedAttempt): void {
    this.counts[state === 'pending' ? 'failed' : state] += 1;
    if (state === 'delivered') return;
    const open = this.#lanes.get(siteKey) as OpenLane;
    open.failed += 1;
    open.lastFailure = outcome;
  }

  #close({ lane, failed, lastFailure }: OpenLane): void {
    const { logger } = this.#effects;
    const { breaker } = lane;
    const { site_key: site } = lane.site;
    this.#lanes.delete(site);
    this.#mayTake = true;
    if (lane.isLeft) this.#sitesAhead.set(site, lane.site);
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

/** What the store does not know yet of a site's circuit breaker. */
function changedCircuit(open: OpenLane): PassUpdate['circuits'] {
  const { breaker, site } = open.lane;
  if (breaker.open === open.keptCircuit) return [];
  open.keptCircuit = breaker.open;
  return [{ siteKey: site.site_key, open: breaker.open ?? null }];
}
