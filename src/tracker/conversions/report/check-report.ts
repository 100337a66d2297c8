import { convertMoney, moneyText, parseMoney, type Micros } from '../../../kit/text/decimal-text.ts';
import { dateOf } from '../../../kit/time/moment.ts';
import type { ConversionKind } from '../../../kit/vocabulary/values.ts';
import type { ConversionRow } from './conversion-row.ts';
import { conversionIdOf } from './conversion-row.ts';
import type { NamedClick } from './known-clicks.ts';
import { Refusal } from './refusal.ts';
import type { ReportedConversion } from './reported-conversion.ts';

/** What an offer pays, at a time. */
interface Terms {
  /** Gross USD. */
  payout: string;
  events: readonly { event_id: string; payout: string }[];
}

/** What is to be known of a click's offer, gone ones too. */
export interface OfferTerms extends Terms {
  source: string;
  /** What it paid before, the oldest first, each until a moment in milliseconds since the epoch. */
  former?: readonly (Terms & { until: number })[] | undefined;
}

/** Whose report it is, and what it is measured by. */
export interface ReportTerms {
  source: string;
  /** Milliseconds since the epoch. */
  receivedAt: number;
  windowDays: number;
  /** Whether a credit has to name a milestone where the offer has some. */
  isEventRequired: boolean;
  /** USD for one unit of a currency, as decimal text. */
  rates: Readonly<Record<string, string>>;
  offerOf(offerId: number): OfferTerms | undefined;
  clickOf(clickId: string): Promise<NamedClick | undefined>;
  /** Whether the credit of a conversion was recorded. */
  isCredited(conversionId: string): boolean;
}

const dayMilliseconds = 86_400_000;
/** Clocks differ by less: what is older than its click was not caused by it. Milliseconds. */
const furthestBeforeClick = 3_600_000;
/** More than that of what the catalog pays is a mistake, or no honest report. */
const mostTimesThePayout = 10n;

/**
 * Makes a report a row, if all holds: its click is known and on an offer of the source, recent enough, its milestone is
 * one of the offer's, and its payout credible, by the terms of the click's time or by those of now. What takes a
 * conversion back is not asked how old or how much it is. Throws `Refusal` for the first that does not hold; rejects
 * otherwise where a click cannot be looked up now.
 */
export async function checkReport(
  report: ReportedConversion & { kind: ConversionKind },
  terms: ReportTerms,
): Promise<{ row: ConversionRow; offerId: number; click: NamedClick }> {
  const click = await terms.clickOf(report.clickId);
  if (click === undefined) throw new Refusal('unknown_click', 'no click has this id');
  const { clickId, offerId } = click;
  const offer = offerId === undefined ? undefined : terms.offerOf(offerId);
  if (offerId === undefined || offer?.source !== terms.source)
    throw new Refusal('foreign_click', 'the click is not on an offer of this source');
  if (report.kind === 'credit') checkWindow(report, click, terms);
  const conversionId = conversionIdOf(terms.source, { ...report, clickId });
  // A milestone may have left the catalog between a credit and what takes it back.
  const isKnownCredit = report.kind !== 'credit' && terms.isCredited(conversionId);
  const payoutNow = catalogPayoutOf(offer, report.eventId);
  const promisedTerms = termsAt(offer, click.clickedAt);
  const promised = catalogPayoutOf(promisedTerms, report.eventId);
  const isWhole = report.eventId === undefined && offer.events.length > 0 && promisedTerms.events.length > 0;
  if (terms.isEventRequired && report.kind === 'credit' && isWhole)
    throw new Refusal('event_required', 'the offer of this click has milestones, and the report names none');
  if (payoutNow === undefined && promised === undefined && !isKnownCredit)
    throw new Refusal('unknown_event', 'the offer of this click has no such event');
  const payout = inUsd(report, terms.rates);
  const most = [payoutNow ?? 0n, promised ?? 0n].reduce((one, other) => (one > other ? one : other));
  if (report.kind === 'credit' && payout !== undefined && payout > most * mostTimesThePayout)
    throw new Refusal('payout_too_high', `more than ten times the catalog's ${moneyText(most)} USD`);
  const { kind, occurredAt, eventId, reason } = report;
  // The pipeline prices by the catalog of the credit's time, which may lack a milestone that the user was promised.
  const priced = payout ?? (payoutNow === undefined ? promised : undefined);
  const payouts = payout === undefined ? [undefined, promised] : [payout];
  return { row: { conversionId, clickId, kind, occurredAt, eventId, payout: priced, payouts, reason }, offerId, click };
}

/** The terms that held when a click was made: those of now where none before are known. */
function termsAt(offer: OfferTerms, clickedAt: number): Terms {
  return offer.former?.find(({ until }) => clickedAt < until) ?? offer;
}

function checkWindow(
  { occurredAt }: ReportedConversion,
  { clickedAt }: NamedClick,
  { receivedAt, windowDays }: ReportTerms,
): void {
  const at = dateOf(occurredAt).getTime();
  if (Math.min(at, receivedAt) - clickedAt > windowDays * dayMilliseconds)
    throw new Refusal('click_too_old', `the click is more than ${windowDays} days older than the conversion`);
  // Else who is paid would choose the price and the day: each is of the time that a credit claims.
  if (clickedAt - at > furthestBeforeClick)
    throw new Refusal('before_click', 'the conversion is more than an hour older than its click');
}

/** Undefined where the offer has no such milestone. */
function catalogPayoutOf({ payout, events }: Terms, eventId: string | undefined): Micros | undefined {
  const text = eventId === undefined ? payout : events.find(({ event_id }) => event_id === eventId)?.payout;
  return text === undefined ? undefined : parseMoney(text);
}

/** As the pipeline converts what catalogs say. */
function inUsd({ payout, currency }: ReportedConversion, rates: ReportTerms['rates']): Micros | undefined {
  if (payout === undefined || currency === 'USD') return payout;
  const rate = Object.hasOwn(rates, currency) ? rates[currency] : undefined;
  if (rate === undefined) throw new Refusal('no_rate', `there is no rate for ${currency}`);
  const usd = convertMoney(payout, rate);
  if (usd === undefined) throw new Refusal('payout_too_high', 'the payout is a billion USD or more');
  return usd;
}
