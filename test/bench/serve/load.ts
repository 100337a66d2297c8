/** A task for the client, which asks for the paths in turns. */
export interface LoadPlan {
  address: string;
  paths: string[];
  /** Keep-alive connections; each waits for an answer before it sends the next request. */
  connections: number;
  /** Ends after so many requests, or after this time, or by a message, whichever comes first. */
  requests?: number;
  seconds?: number;
  /** Requests spread evenly over time, in place of as many as possible. */
  ratePerSecond?: number;
}

export interface Load {
  requests: number;
  /** Answers other than 200 and requests that got none. */
  failed: number;
  bodyBytes: number;
  seconds: number;
  /** Milliseconds from when a request was due until its answer was there. */
  p50: number;
  p99: number;
}
