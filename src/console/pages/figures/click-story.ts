import { addDays, compareMoments, dayOf, startOfDay, type Moment } from '../../../kit/time/moment.ts';
import type { ConsoleRow } from '../../data/console-snapshot.ts';
import { figureText } from '../../html/figures.ts';

export type ClickRow = ConsoleRow<'click'>;

export type ConversionRow = ConsoleRow<'click_conversions'>;

export type PostbackRow = ConsoleRow<'click_postbacks'>;

/** Something that happened to a click, or to what came of it. */
export interface Happening {
  at: Moment;
  what: string;
}

/** In a sentence each: whether and where a click and each of its conversions counts, and if not, why. */
export function verdicts(click: ClickRow | undefined, conversions: readonly ConversionRow[], asOf: Moment): string[] {
  return [
    clickVerdict(click, asOf),
    ...(click !== undefined && conversions.length === 0 ? ['No conversion up to the as-of names this click.'] : []),
    ...conversions.map((conversion) => conversionVerdict(conversion, click, asOf)),
  ];
}

function clickVerdict(click: ClickRow | undefined, asOf: Moment): string {
  if (click === undefined)
    return 'No log that was read has this click; conversions that name it wait for it, and count once it comes.';
  if (click.offer_id === null)
    return `The click counts for no offer: no catalog has had ${click.external_id ?? 'its offer'} of ${click.source ?? 'its source'} yet.`;
  if (!click.in_catalog) return `The click counts for no offer: no catalog has had offer ${click.offer_id} yet.`;
  if (compareMoments(click.clicked_at, asOf) > 0)
    return 'The click does not count yet: it is stamped later than the as-of of this snapshot.';
  if (compareMoments(click.clicked_at, windowStart(asOf)) < 0)
    return `The click counts on its day, ${dayOf(click.clicked_at)}; it is before the window of the offer’s figures, which begins with ${dayOf(windowStart(asOf))}.`;
  return `The click counts in the clicks of offer ${click.offer_id}, and on its day.`;
}

function conversionVerdict(conversion: ConversionRow, click: ClickRow | undefined, asOf: Moment): string {
  const name = `Conversion ${conversion.conversion_id}`;
  const { status, credited_at, reversed_at } = conversion;
  if (status === 'unattributed')
    return `${name} does not count: it is unattributed, since ${whyUnattributed(conversion, click)}.`;
  if (status === 'rejected') return `${name} does not count: the advertiser rejected it on ${said(reversed_at)}.`;
  if (status === 'charged_back')
    return `${name} does not count any more: it was charged back on ${said(reversed_at)}${credited_at === null ? ', and never credited' : `, after a credit on ${said(credited_at)}`}.`;
  const worth = conversion.payout === null ? '' : `, with ${figureText(conversion.payout, 2)} USD`;
  if (credited_at !== null && compareMoments(credited_at, windowStart(asOf)) < 0)
    return `${name} counts on the day of its credit, ${dayOf(credited_at)}${worth}; that is before the window of the offer’s figures, which begins with ${dayOf(windowStart(asOf))}.`;
  return `${name} counts in the offer’s conversions and earnings${worth}, credited on ${said(credited_at)}.`;
}

function whyUnattributed({ event_id, offer_id }: ConversionRow, click: ClickRow | undefined): string {
  if (click === undefined) return 'no log that was read has its click';
  if (!click.in_catalog || offer_id === null) return 'no catalog has had the offer of its click yet';
  return `the offer had no milestone "${event_id ?? ''}" at that time`;
}

/** All that is known to have happened, in its order. */
export function storyOf(
  click: ClickRow | undefined,
  conversions: readonly ConversionRow[],
  postbacks: readonly PostbackRow[],
): Happening[] {
  const story: (Omit<Happening, 'at'> & { at: Moment | null })[] = [
    ...(click === undefined
      ? []
      : [
          { at: click.clicked_at, what: `clicked on site ${click.site_key}` },
          { at: click.ingested_at, what: `its log was read, by run ${click.run_id}` },
        ]),
    ...conversions.flatMap(({ conversion_id: id, credited_at, reversed_at, status, occurred_at }) => [
      ...(credited_at === null && reversed_at === null ? [{ at: occurred_at, what: `conversion ${id} happened` }] : []),
      { at: credited_at, what: `conversion ${id} was credited` },
      { at: reversed_at, what: `conversion ${id} was ${status === 'charged_back' ? 'charged back' : 'rejected'}` },
    ]),
    ...postbacks.flatMap(({ kind, conversion_id: id, enqueued_at, delivered_at, last_attempt_at, ...told }) => [
      { at: enqueued_at, what: `postback of the ${kind} of ${id} was written` },
      ...(delivered_at === null
        ? [
            {
              at: last_attempt_at,
              what: `attempt ${told.attempts} at the ${kind} of ${id} failed: ${told.last_error ?? told.last_status ?? 'unknown'}`,
            },
          ]
        : [{ at: delivered_at, what: `the ${kind} of ${id} was delivered, at attempt ${told.attempts}` }]),
    ]),
  ];
  return story
    .flatMap(({ at, what }) => (at === null ? [] : [{ at, what }]))
    .toSorted((one, other) => compareMoments(one.at, other.at));
}

function windowStart(asOf: Moment): Moment {
  return startOfDay(addDays(dayOf(asOf), -1));
}

function said(at: Moment | null): string {
  return at === null ? 'a moment that is not known' : `${at.slice(0, 10)} at ${at.slice(11, 19)} UTC`;
}
