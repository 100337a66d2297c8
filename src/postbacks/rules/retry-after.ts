/**
 * The seconds that `Retry-After` asks for, given in seconds or as a date. A date is read against the response's own
 * `Date`, since the receiver's clock may differ from ours, which is `now` in milliseconds. Null where it says nothing
 * that can be understood.
 */
export function retryAfterSeconds(
  retryAfter: string | undefined,
  date: string | undefined,
  now: number,
): number | null {
  if (retryAfter === undefined) return null;
  if (/^\d+$/.test(retryAfter)) return Math.min(Number(retryAfter), Number.MAX_SAFE_INTEGER);
  const until = httpDate(retryAfter);
  if (until === null) return null;
  return Math.max(0, Math.ceil((until - (httpDate(date) ?? now)) / 1000));
}

/** Milliseconds since the epoch of a date such as `Sun, 06 Nov 1994 08:49:37 GMT`. */
function httpDate(text: string | undefined): number | null {
  if (text === undefined || !/^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/.test(text)) return null;
  const milliseconds = Date.parse(text);
  return Number.isNaN(milliseconds) ? null : milliseconds;
}
