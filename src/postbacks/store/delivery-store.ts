import { OfferlineError } from '../../kit/errors/errors.ts';
import type { Moment } from '../../kit/time/moment.ts';
import type { DeliveryStatus } from '../../kit/vocabulary/values.ts';
import type { OpenCircuit } from '../rules/circuit-breaker.ts';
import type { Outcome } from '../rules/outcome.ts';
import type { Postback } from '../rules/postback.ts';
import type { AttemptRecord, DeliveryState, FailingSite, OutboxRow } from './delivery-rows.ts';

export type { AttemptRecord, DeliveryState, FailingSite, OutboxRow } from './delivery-rows.ts';

/**
 * The state of every postback and each attempt. Several processes write to it at the same time: refreshes hand over
 * what the warehouse's outbox holds, passes deliver. What was committed survives everything.
 */
export interface DeliveryStore {
  /** Made at random with the store: another one means that the store is a new one. */
  readonly storeId: string;

  /** The greatest number imported from that warehouse's outbox; 0 when none. */
  importedUpTo(warehouseId: string): Promise<number>;
  /** Imports rows of the outbox, all or none; those that are here already stay as they are. */
  importOutbox(warehouseId: string, rows: Iterable<OutboxRow>): Promise<OutboxImport>;
  /**
   * Brings a store that was lost back from what the warehouse last saw of it. What was delivered is not sent again;
   * what was tried since is. Those that are here already stay as they are. Returns how many were new.
   */
  restore(states: Iterable<DeliveryState>): Promise<number>;
  /** What has changed after that change, at most `limit` rows of each kind: to be called again until `upTo` stays. */
  changesSince(change: number, limit?: number): Promise<DeliveryChanges>;

  /** The newest events first, without so many of the first. */
  find(filter: DeliveryFilter, limit: number, skipped?: number): Promise<DeliveryState[]>;
  count(filter: DeliveryFilter): Promise<number>;
  /** How many there are of each site, in the order of their keys, and which: whoever asks again can tell a change. */
  countBySite(filter: DeliveryFilter): Promise<SitePostbacks[]>;
  /** How many of each site are in which state. What was counted `before` saves counting the delivered ones again. */
  countByState(before?: StateCounts): Promise<StateCounts>;
  /** Why the last attempt at postbacks failed that are not delivered, the most frequent reason first. */
  countByError(): Promise<FailedPostbacks[]>;
  /** Sites with postbacks that failed and wait, how they stand; by key. Of a site that takes others, too. */
  failingSites(): Promise<FailingSite[]>;
  /** The webhook id of that one of a click which is sent before its others; undefined where none is to be sent. */
  nextOfClick(clickId: string): Promise<string | undefined>;
  /** The postbacks with that webhook or conversion id in their order, each with its attempts. */
  show(id: string): Promise<{ postback: DeliveryState; attempts: AttemptRecord[] }[]>;
  /**
   * Gives dead ones, or pending ones where the filter says so, a new plan of attempts that begins at `now`, in
   * milliseconds since the epoch; pending ones wait for no pause of their sites either. Returns how many.
   */
  revive(filter: DeliveryFilter, now: number): Promise<number>;
  /**
   * Removes attempts that were made before a moment, in milliseconds since the epoch, and gives their number. The
   * postbacks themselves stay, with how often they were tried and how the last try ended, so what is still to be sent
   * is untouched.
   */
  purgeAttempts(before: number): Promise<number>;

  /**
   * Postbacks whose time has come, those that wait for another of their click among them, and how many wait for none;
   * the longest waiting site first. `now` is in milliseconds since the epoch.
   */
  due(now: number): Promise<{ siteKey: string; due: number; ready: number }[]>;
  /** Neither delivered nor dead. */
  unfinished(): Promise<number>;
  /** By site; those that are not among them are as usual. */
  openCircuits(): Promise<Map<string, OpenCircuit>>;
  /**
   * What a pass that was killed had claimed may be claimed again, and after the clock has gone back nothing waits
   * longer than its plan would let it. `now` is in milliseconds since the epoch.
   */
  beginPass(now: number): Promise<PassStore>;

  close(): Promise<void>;
}

/** The store lies elsewhere and does not answer, or lets nobody in. What it holds is as safe as before. */
export class StoreAwayError extends OfferlineError {}

export interface DeliveryChanges {
  postbacks: DeliveryState[];
  attempts: AttemptRecord[];
  /**
   * Where the next call goes on; what was asked for itself when nothing has changed since, and less where the store is
   * an older copy of itself, come back from a backup or a replica.
   */
  upTo: number;
}

export interface OutboxImport {
  /** Postbacks that were not here yet. */
  added: number;
  /** The store's last change before the import and after it; between them are imported rows only. */
  changes: { before: number; after: number };
}

/** Postbacks of one site that meet a filter. */
export interface SitePostbacks {
  siteKey: string;
  postbacks: number;
  /** Of their webhook ids in the order of their bytes, a line each: the same for the same postbacks in any store. */
  idsSha256: string;
}

/** Postbacks of one site in one state. */
export interface StatePostbacks {
  siteKey: string;
  state: DeliveryStatus;
  postbacks: number;
}

/** How many postbacks were in which state, once all changes up to one had been made. */
export interface StateCounts {
  storeId: string;
  upTo: number;
  /** In the order of sites and states; those that none is in are left out. */
  states: StatePostbacks[];
}

/** Postbacks of all sites in one state whose last attempt failed for one reason. */
export interface FailedPostbacks {
  error: string;
  /** Null where no status line came. */
  status: number | null;
  state: DeliveryStatus;
  sites: number;
  postbacks: number;
}

/** Postbacks that meet all of it. */
export interface DeliveryFilter {
  site?: string | undefined;
  state?: DeliveryStatus | undefined;
  /** Those whose event occurred then or later. */
  since?: Moment | undefined;
  /** Those whose event occurred before. */
  until?: Moment | undefined;
  /** Webhook or conversion ids, any of them. */
  ids?: readonly string[] | undefined;
}

/** What one pass does to the store. Moments are milliseconds since the epoch. */
export interface PassStore {
  /** How many were due when the pass began, by site; the longest waiting site first. */
  readonly due: ReadonlyMap<string, number>;
  /** Aborted once the store is lost: the sites may be another's from then on. */
  readonly lost: AbortSignal;
  /** False once the sites may be another's, as for one that was stopped and wakes up before it hears of that. */
  readonly isSure: boolean;
  /** Of so many sites, how many are this pass's part beside other passes. */
  share(sites: number): Promise<number>;
  /**
   * Takes so many of these sites at most that no other pass has, in that order. Nobody else sends to them until they
   * are left, or until this process has ended.
   */
  takeSites(siteKeys: readonly string[], limit: number): Promise<TakenSite[]>;
  /** All that was claimed for them has been written down. */
  leaveSites(siteKeys: readonly string[]): Promise<void>;
  /**
   * One update at a time. Gives what it claims, in the order of the claims asked for. All of it is on the disk then,
   * or nothing.
   */
  apply(update: PassUpdate): Promise<ClaimedPostback[][]>;
  end(): Promise<void>;
}

export interface TakenSite {
  siteKey: string;
  /** Undefined where the site is as usual. */
  circuit: OpenCircuit | undefined;
}

/** One transaction of a pass: what has come to pass since the last one, and what to send next. */
export interface PassUpdate {
  finished: FinishedAttempt[];
  /** Claimed, and not sent after all. */
  unsent: ClaimedPostback[];
  /** Null where a site is as usual again. */
  circuits: { siteKey: string; open: OpenCircuit | null }[];
  /** Postbacks of a site that were due by then, in milliseconds since the epoch. */
  claims: { siteKey: string; dueBy: number; limit: number }[];
}

/** A postback that the running pass has taken to send. */
export interface ClaimedPostback {
  sequence: number;
  postback: Postback;
  /** All that ended, and those of the present plan. */
  attempts: number;
  planAttempts: number;
}

/** An attempt that ended and what follows from it. Moments are milliseconds since the epoch. */
export interface FinishedAttempt {
  sequence: number;
  siteKey: string;
  clickId: string;
  /** This one included: all, and those of the present plan. */
  attempts: number;
  planAttempts: number;
  startedAt: number;
  outcome: Outcome;
  state: 'delivered' | 'pending' | 'dead';
  nextAttemptAt: number | null;
}
