import type { Moment } from '../../kit/time/moment.ts';
import type { DeliveryStatus } from '../../kit/vocabulary/values.ts';
import type { AttemptRecord, Backlog, DeliveryState, FailingSite } from './delivery-rows.ts';

/** Queries of operators and pages, and the two changes that operators and maintenance make. */
export interface QueryStore {
  /** Returns the newest events first, without the first `skipped`. */
  find(filter: DeliveryFilter, limit: number, skipped?: number): Promise<DeliveryState[]>;
  count(filter: DeliveryFilter): Promise<number>;
  /** Postbacks that are neither delivered nor given up. */
  backlog(): Promise<Backlog>;
  /** Counts postbacks of each site, in the order of their keys, with a digest by which a later call shows a change. */
  countBySite(filter: DeliveryFilter): Promise<SitePostbacks[]>;
  /** Counts postbacks by site and state. An earlier result saves counting the delivered ones again. */
  countByState(before?: StateCounts): Promise<StateCounts>;
  /** Counts postbacks that are not delivered by the reason of their last failure, the most frequent reason first. */
  countByError(): Promise<FailedPostbacks[]>;
  /**
   * Sites with postbacks that failed and wait, by key; also of a site that takes others. A delivery later than `now`
   * was written by a clock that has gone back since, and does not count.
   */
  failingSites(now: number): Promise<FailingSite[]>;
  /** Webhook id of the postback of a click that is sent before its others; undefined where none is to be sent. */
  nextOfClick(clickId: string): Promise<string | undefined>;
  /** Postbacks with that webhook or conversion id in their order, each with its attempts. */
  show(id: string): Promise<{ postback: DeliveryState; attempts: AttemptRecord[] }[]>;
  /**
   * Gives dead ones, or pending ones where the filter says so, a new plan of attempts that begins at `now`, in
   * milliseconds since the epoch; pending ones wait for no pause of their sites either. Returns how many. Where it is
   * ended on the way, some are revived; called again it goes on.
   */
  revive(filter: DeliveryFilter, now: number): Promise<number>;
  /**
   * Makes a postback due at `now`, in milliseconds since the epoch, with a new plan of attempts, also one that was
   * delivered or given up; its site's pause ends. Undefined where the site has no such postback.
   */
  resend(order: ResendOrder, now: number): Promise<Resent | undefined>;
  /**
   * Removes attempts that were made before a moment, in milliseconds since the epoch, and gives their number. The
   * postbacks themselves stay, with how often they were tried and how the last try ended, so what is still to be sent
   * is untouched.
   */
  purgeAttempts(before: number): Promise<number>;
}

/** A site's wish to get a postback of its own once more. */
export interface ResendOrder {
  siteKey: string;
  webhookId: string;
  /** Attempts that the site knows of: where there were more, the order is carried out already, or too late. */
  attempts?: number | undefined;
}

export interface Resent {
  postback: DeliveryState;
  /** False where the order changes nothing: the postback is due, on its way, or was tried since. */
  isNew: boolean;
}

/** Postbacks of one site that meet a filter. */
export interface SitePostbacks {
  siteKey: string;
  postbacks: number;
  /** Digest of their webhook ids in the order of their bytes, a line each: the same in any store. */
  idsSha256: string;
}

/** Postbacks of one site in one state. */
export interface StatePostbacks {
  siteKey: string;
  state: DeliveryStatus;
  postbacks: number;
}

/** Counts of postbacks by site and state, after all changes up to one. */
export interface StateCounts {
  storeId: string;
  upTo: number;
  /** Pairs of site and state that have postbacks, in their order. */
  states: StatePostbacks[];
}

/** Postbacks of all sites in one state whose last attempt failed for one reason. */
export interface FailedPostbacks {
  error: string;
  /** Null where no status line was received. */
  status: number | null;
  state: DeliveryStatus;
  sites: number;
  postbacks: number;
}

/** Conditions that a postback meets all of. */
export interface DeliveryFilter {
  site?: string | undefined;
  state?: DeliveryStatus | undefined;
  /** Moment: only those whose event occurred then or later. */
  since?: Moment | undefined;
  /** Moment: only those whose event occurred before. */
  until?: Moment | undefined;
  /** Webhook or conversion ids, any of them. */
  ids?: readonly string[] | undefined;
}
