/** Outcomes of a click: `click` for one that is counted, `repeat` for its copy, `unreadable` for what is no HTTP. */
export type ClickOutcome =
  | 'click'
  | 'repeat'
  | 'unreadable'
  | 'wrong_method'
  | 'too_long'
  | 'not_found'
  | 'invalid_parameter'
  | 'unknown_site'
  | 'site_pending'
  | 'unknown_offer'
  | 'not_offered'
  | 'offer_gone'
  | 'prefetch'
  | 'bot'
  | 'country'
  | 'device'
  | 'os_version'
  | 'flood'
  | 'daily_click_cap'
  | 'daily_cap'
  | 'not_recorded';

export interface ClickAnswer {
  outcome: ClickOutcome;
  status: number;
  /** The address of a 302. */
  location?: string;
  /** Text for people; says nothing of who clicked. */
  message?: string;
  /** Seconds after which another try may fare better. */
  retryAfter?: number;
  /** Methods that are allowed, of a 405. */
  allow?: string;
}

/** Refusals that are no fault of the link: where there is a fallback address the user is sent there. */
const fallingBack: ReadonlySet<ClickOutcome> = new Set([
  'offer_gone',
  'country',
  'device',
  'os_version',
  'flood',
  'daily_click_cap',
  'daily_cap',
]);

export function leadsToFallback(outcome: ClickOutcome): boolean {
  return fallingBack.has(outcome);
}

/** A fallback address with its two places filled. Nothing of the click can be in it. */
export function fallbackLocation(url: string, outcome: ClickOutcome, offerId: number): string {
  return url.replaceAll('{reason}', outcome).replaceAll('{offer_id}', String(offerId));
}
