/** What the client is asked to do. Every click is of a new user at a new address. */
export interface ClickPlan {
  address: string;
  /** Keep-alive connections; each waits for an answer before it sends the next click. */
  connections: number;
  seconds: number;
  /** Clicks spread evenly over time, in place of as many as possible. */
  ratePerSecond?: number;
  offers: number;
  sites: number;
}

export interface ClickLoad {
  clicks: number;
  /** Answers other than 302 and connections that broke. */
  failed: number;
  seconds: number;
  /** Milliseconds, from when a click was due until its answer was there. */
  p50: number;
  p99: number;
}
