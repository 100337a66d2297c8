/** No whole answer came. The message holds no part of the request. */
export class ExchangeError extends Error {}

/** The answer is more than a page may have, and so would the next one be. */
export class TooMuchError extends ExchangeError {}
