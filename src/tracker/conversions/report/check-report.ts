import { convertMoney, moneyText, parseMoney, type Micros } from '../../../kit/text/decimal-text.ts';
import { dateOf } from '../../../kit/time/moment.ts';
import type { ConversionKind } from '../../../kit/vocabulary/values.ts';
import type { ConversionRecord } from './conversion-record.ts';
import { makeConversionId } from './conversion-record.ts';
import type { NamedClick } from './known-clicks.ts';
import { Refusal } from './refusal.ts';
import type { ReportedConversion } from './reported-conversion.ts';

/** The payouts of an offer, at a time. */
interface Terms {
  /** Gross USD. */
  payout: string;
  events: readonly { event_id: string; payout: string }[];
}

/** The terms of a click's offer, which may be gone. */
export interface OfferTerms extends Terms {
  source: string;
  /** Earlier payouts, the oldest first, each until a moment in milliseconds since the epoch. */
  former?: readonly (Terms & { until: number })[] | undefined;
}

/** The source of a report, and what the report is checked against. */
export interface ReportTerms {
  source: string;
  /** Milliseconds since the epoch. */
  receivedAt: number;
  windowDays: number;
  /** A credit has to name a milestone where the offer has some. */
  isEventRequired: boolean;
  /** USD for one unit of a currency, as decimal text. */
  rates: Readonly<Record<string, string>>;
  offerOf(offerId: number): OfferTerms | undefined;
  clickOf(clickId: string): Promise<NamedClick | undefined>;
  /** Returns true for a conversion whose credit was recorded. */
  isCredited(conversionId: string): boolean;
}

const dayMilliseconds = 86_400_000;
/** Clocks differ by less: a conversion that is older than its click was not caused by it. Milliseconds. */
const maxBeforeClick = 3_600_000;
/** A payout of more times the catalog's is a mistake, or no honest report. */
const maxTimesThePayout = 10n;

/**
 * Turns a report into a record, if its click is known, on an offer of the source and recent enough, its milestone is
 * one of the offer's, and its payout is credible, by the terms of the click's time or by those of now. Age and amount
 * of a reversal do not matter. Throws `Refusal` for the first check that fails; rejects otherwise where a click cannot
 * be looked up now.
 */
export async function checkReport(
  report: ReportedConversion & { kind: ConversionKind },
  terms: ReportTerms,
): Promise<{ row: ConversionRecord; offerId: number; click: NamedClick }> {
  const click = await terms.clickOf(report.clickId);
  if (click === undefined) throw new Refusal('unknown_click', 'no click has this id');
  const { clickId, offerId } = click;
  const offer = offerId === undefined ? undefined : terms.offerOf(offerId);
  if (offerId === undefined || offer?.source !== terms.source)
    throw new Refusal('foreign_click', 'the click is not on an offer of this source');
  // What is announced has to be fit for a credit.
  const isGiven = report.kind === 'credit' || report.kind === 'pending';
  if (isGiven) checkWindow(report, click, terms);
  const conversionId = makeConversionId(terms.source, { ...report, clickId });
  // A milestone may have left the catalog between a credit and what takes it back.
  const isKnownCredit = !isGiven && terms.isCredited(conversionId);
  const payoutNow = catalogPayoutOf(offer, report.eventId);
  const promisedTerms = termsAt(offer, click.clickedAt);
  const promised = catalogPayoutOf(promisedTerms, report.eventId);
  const isWhole = report.eventId === undefined && offer.events.length > 0 && promisedTerms.events.length > 0;
  if (terms.isEventRequired && isGiven && isWhole)
    throw new Refusal('event_required', 'the offer of this click has milestones, and the report names none');
  if (payoutNow === undefined && promised === undefined && !isKnownCredit)
    throw new Refusal('unknown_event', 'the offer of this click has no such event');
  const payout = inUsd(report, terms.rates);
  const catalogPayout = [payoutNow ?? 0n, promised ?? 0n].reduce((one, other) => (one > other ? one : other));
  if (isGiven && payout !== undefined && payout > catalogPayout * maxTimesThePayout)
    throw new Refusal('payout_too_high', `more than ten times the catalog's ${moneyText(catalogPayout)} USD`);
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
  // Price and day are those of the time that a credit claims: its sender must not choose them.
  if (clickedAt - at > maxBeforeClick)
    throw new Refusal('before_click', 'the conversion is more than an hour older than its click');
}

/** The payout of an offer, or of its milestone; undefined where it has no such milestone. */
function catalogPayoutOf({ payout, events }: Terms, eventId: string | undefined): Micros | undefined {
  const text = eventId === undefined ? payout : events.find(({ event_id }) => event_id === eventId)?.payout;
  return text === undefined ? undefined : parseMoney(text);
}

/** Converts a payout as the pipeline converts those of catalogs. */
function inUsd({ payout, currency }: ReportedConversion, rates: ReportTerms['rates']): Micros | undefined {
  if (payout === undefined || currency === 'USD') return payout;
  const rate = Object.hasOwn(rates, currency) ? rates[currency] : undefined;
  if (rate === undefined) throw new Refusal('no_rate', `there is no rate for ${currency}`);
  const usd = convertMoney(payout, rate);
  if (usd === undefined) throw new Refusal('payout_too_high', 'the payout is a billion USD or more');
  return usd;
}
