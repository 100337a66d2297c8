import { addDays, compareMoments, dayOf, startOfDay, type Moment } from '../../../kit/time/moment.ts';
import type { ConsoleRow } from '../../data/console-snapshot.ts';
import { shownNumber } from '../../html/values.ts';

export type ClickRow = ConsoleRow<'click'>;
export type ConversionOfClick = ConsoleRow<'click_conversions'>;
export type PostbackOfClick = ConsoleRow<'click_postbacks'>;

/** An event of a click, its conversions or their postbacks. */
export interface ClickEvent {
  at: Moment;
  what: string;
}

/** Sentences that say whether and where a click and each of its conversions counts, and if not, why. */
export function verdicts(
  click: ClickRow | undefined,
  conversions: readonly ConversionOfClick[],
  asOf: Moment,
): string[] {
  return [
    clickVerdict(click, asOf),
    ...(click !== undefined && conversions.length === 0 ? ['No conversion up to the as-of names this click.'] : []),
    ...conversions.map((conversion) => conversionVerdict(conversion, click, asOf)),
  ];
}

function clickVerdict(click: ClickRow | undefined, asOf: Moment): string {
  if (click === undefined)
    return 'No log that was read has this click. Conversions that name it wait for it, and count when it arrives.';
  if (click.offer_id === null)
    return `The click counts for no offer: no catalog has had ${click.external_id ?? 'its offer'} of ${click.source ?? 'its source'} yet.`;
  if (!click.in_catalog) return `The click counts for no offer: no catalog has had offer ${click.offer_id} yet.`;
  if (compareMoments(click.clicked_at, asOf) > 0)
    return 'The click does not count yet: its time is later than the as-of of this snapshot.';
  if (compareMoments(click.clicked_at, windowStart(asOf)) < 0)
    return `The click counts on its day, ${dayOf(click.clicked_at)}. It is before the window of the offer’s figures, which begins on ${dayOf(windowStart(asOf))}.`;
  return `The click counts in the clicks of offer ${click.offer_id}, and on its day.`;
}

function conversionVerdict(conversion: ConversionOfClick, click: ClickRow | undefined, asOf: Moment): string {
  const name = `Conversion ${conversion.conversion_id}`;
  const { status, credited_at, reversed_at, reason } = conversion;
  if (status === 'unattributed')
    return `${name} does not count: it is unattributed, because ${whyUnattributed(conversion, click)}.`;
  if (status === 'pending')
    return `${name} does not count: it was announced on ${sentenceTime(conversion.occurred_at)}, and is neither credited nor rejected yet.`;
  if (isLapsed(conversion))
    return `${name} does not count: it was announced on ${sentenceTime(conversion.occurred_at)}, and nothing followed within 90 days.`;
  if (status === 'rejected')
    return `${name} does not count: the advertiser rejected it on ${sentenceTime(reversed_at)}${because(reason)}.`;
  if (status === 'charged_back')
    return `${name} does not count any more: it was charged back on ${sentenceTime(reversed_at)}${credited_at === null ? ', and never credited' : `, after a credit on ${sentenceTime(credited_at)}`}${because(reason)}.`;
  const worth = conversion.payout === null ? '' : `, with ${shownNumber(conversion.payout, 2)} USD`;
  if (credited_at !== null && compareMoments(credited_at, windowStart(asOf)) < 0)
    return `${name} counts on the day of its credit, ${dayOf(credited_at)}${worth}. That is before the window of the offer’s figures, which begins on ${dayOf(windowStart(asOf))}.`;
  return `${name} counts in the offer’s conversions and earnings${worth}, credited on ${sentenceTime(credited_at)}.`;
}

/** Whether nothing followed its announcement. A reject without a credit occurs when it reverses. */
function isLapsed({ status, credited_at, reversed_at, occurred_at }: ConversionOfClick): boolean {
  return status === 'rejected' && credited_at === null && reversed_at !== occurred_at;
}

function whyUnattributed({ event_id, offer_id }: ConversionOfClick, click: ClickRow | undefined): string {
  if (click === undefined) return 'no log that was read has its click';
  if (!click.in_catalog || offer_id === null) return 'no catalog has had the offer of its click yet';
  return `the offer had no milestone "${event_id ?? ''}" at that time`;
}

/** All known events, in their order. */
export function eventsOf(
  click: ClickRow | undefined,
  conversions: readonly ConversionOfClick[],
  postbacks: readonly PostbackOfClick[],
): ClickEvent[] {
  const events: { at: Moment | null; what: string }[] = [];
  if (click !== undefined)
    events.push(
      { at: click.clicked_at, what: `clicked on site ${click.site_key}` },
      { at: click.ingested_at, what: `run ${click.run_id} read its log` },
    );
  for (const { conversion_id: id, credited_at, reversed_at, status, occurred_at } of conversions) {
    if (credited_at === null && reversed_at === null)
      events.push({ at: occurred_at, what: `conversion ${id} ${status === 'pending' ? 'was announced' : 'occurred'}` });
    events.push(
      { at: credited_at, what: `conversion ${id} was credited` },
      { at: reversed_at, what: `conversion ${id} was ${status === 'charged_back' ? 'charged back' : 'rejected'}` },
    );
  }
  for (const { kind, conversion_id: id, enqueued_at, delivered_at, last_attempt_at, ...last } of postbacks) {
    events.push({ at: enqueued_at, what: `postback of the ${kind} of ${id} was written` });
    if (delivered_at !== null)
      events.push({
        at: delivered_at,
        what: `postback of the ${kind} of ${id} was delivered, at attempt ${last.attempts}`,
      });
    else
      events.push({
        at: last_attempt_at,
        what: `attempt ${last.attempts} to send the ${kind} of ${id} failed: ${last.last_error ?? last.last_status ?? 'unknown'}`,
      });
  }
  return events
    .flatMap(({ at, what }) => (at === null ? [] : [{ at, what }]))
    .toSorted((one, other) => compareMoments(one.at, other.at));
}

function windowStart(asOf: Moment): Moment {
  return startOfDay(addDays(dayOf(asOf), -1));
}

function because(reason: string | null): string {
  return reason === null ? '' : `, with the reason "${reason}"`;
}

function sentenceTime(at: Moment | null): string {
  return at === null ? 'an unknown time' : `${at.slice(0, 10)} at ${at.slice(11, 19)} UTC`;
}
