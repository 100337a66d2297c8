import type { OpenCircuit } from '../rules/circuit-breaker.ts';
import type { Outcome } from '../rules/outcome.ts';
import type { Postback } from '../rules/postback.ts';

/** Postbacks that are due, for passes of delivery. */
export interface QueueStore {
  /**
   * Postbacks by site whose time has come, and how many of them are first of their click (`ready`); the longest waiting
   * site first. `now` is in milliseconds since the epoch.
   */
  due(now: number): Promise<{ siteKey: string; due: number; ready: number }[]>;
  /**
   * Counts by site what passes have claimed that no longer hold it: the next pass frees it. Where the store is a file,
   * only for a caller that knows that nobody holds the delivery lock.
   */
  abandonedClaims(): Promise<{ siteKey: string; claimed: number }[]>;
  /** True where a postback waits for longer than its plan allows, which the next pass mends. Reads a bounded number. */
  waitsTooLong(now: number): Promise<boolean>;
  /** Counts postbacks that are neither delivered nor dead. */
  unfinished(): Promise<number>;
  /** Circuit breakers that are open, by site. */
  openCircuits(): Promise<Map<string, OpenCircuit>>;
  /**
   * Frees what a pass that was killed had claimed. After the clock has gone back nothing waits longer than its plan
   * allows. `now` is in milliseconds since the epoch.
   */
  beginPass(now: number): Promise<PassStore>;
}

/** Operations of one pass on the store. Moments are milliseconds since the epoch. */
export interface PassStore {
  /** Counts of postbacks that were due when the pass began, by site; the longest waiting site first. */
  readonly due: ReadonlyMap<string, number>;
  /** Aborted once the store is lost: from then on another pass may have the sites. */
  readonly lost: AbortSignal;
  /** False once another pass may have the sites, as for a process that was stopped and has just woken up. */
  readonly isSure: boolean;
  /** Returns how many of so many sites are this pass's part beside other passes. */
  share(sites: number): Promise<number>;
  /**
   * Takes at most `limit` of these sites that no other pass has, in that order. No other pass sends to them until they
   * are left or this process has ended.
   */
  takeSites(siteKeys: readonly string[], limit: number): Promise<TakenSite[]>;
  /** Gives sites back once all that was claimed for them has been recorded. */
  leaveSites(siteKeys: readonly string[]): Promise<void>;
  /**
   * Applies one update at a time, all of it or nothing, and returns once it is on the disk. Returns what it claimed, in
   * the order of the claims asked for.
   */
  apply(update: PassUpdate): Promise<ClaimedPostback[][]>;
  end(): Promise<void>;
}

export interface TakenSite {
  siteKey: string;
  /** Undefined where the circuit breaker is closed. */
  circuit: OpenCircuit | undefined;
}

/** Transaction of a pass: attempts that have ended since the last one, and postbacks to claim. */
export interface PassUpdate {
  finished: FinishedAttempt[];
  /** Postbacks that were claimed and not sent. */
  unsent: ClaimedPostback[];
  /** Null where the circuit breaker has closed. */
  circuits: { siteKey: string; open: OpenCircuit | null }[];
  /** Asks for postbacks of a site that are due by a moment. */
  claims: { siteKey: string; dueBy: number; limit: number }[];
}

/** A postback that the running pass has claimed. */
export interface ClaimedPostback {
  sequence: number;
  postback: Postback;
  /** Attempts that ended: all, and those of the present plan. */
  attempts: number;
  planAttempts: number;
}

/** An attempt that ended, and the postback's state after it. Moments are milliseconds since the epoch. */
export interface FinishedAttempt {
  sequence: number;
  siteKey: string;
  clickId: string;
  /** Attempts with this one: all, and those of the present plan. */
  attempts: number;
  planAttempts: number;
  startedAt: number;
  outcome: Outcome;
  state: 'delivered' | 'pending' | 'dead';
  nextAttemptAt: number | null;
}
