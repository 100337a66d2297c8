/** An exchange without a complete answer. The message contains no part of the request. */
export class ExchangeError extends Error {}

/** An answer larger than a page may be; another try would not help. */
export class TooMuchError extends ExchangeError {}
