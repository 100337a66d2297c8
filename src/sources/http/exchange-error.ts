/** No whole answer came. The message holds no part of the request. */
export class ExchangeError extends Error {}
