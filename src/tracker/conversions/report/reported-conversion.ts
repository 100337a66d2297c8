import { reversalOf, type PostbackSettings, type StatusMeaning } from '../../../sources/config/postback-settings.ts';
import { parsePlainMoney, type Micros } from '../../../kit/text/decimal-text.ts';
import { reasonText } from '../../../kit/text/reason-text.ts';
import { momentOf, momentOfMilliseconds, type Moment } from '../../../kit/time/moment.ts';
import { readTimestamp } from '../../../kit/time/timestamp-text.ts';
import type { SentParameters } from '../guard/sent-parameters.ts';
import { Refusal } from './refusal.ts';
import { ReportFields, reportMapping, type ReportMapping } from './report-fields.ts';

/** A report in our own terms. */
export interface ReportedConversion {
  clickId: string;
  transactionId: string | undefined;
  eventId: string | undefined;
  kind: Exclude<StatusMeaning, 'ignored'>;
  /** In `currency`, in millionths. */
  payout: Micros | undefined;
  /** ISO 4217. */
  currency: string;
  occurredAt: Moment;
  reason: string | undefined;
}

/** Settings by which the parameters of a source are read. */
export interface ReportReading {
  settings: Pick<PostbackSettings, 'parameters' | 'statuses' | 'fields' | 'reversal' | 'signature'>;
  /** Made of `fields`, where the source has them. */
  mapping: ReportMapping | undefined;
  /** The currency of amounts that come without one. */
  currency: string;
  /** The zone of times without an offset. */
  timeZone: string | undefined;
}

/** Prepares the reading of a source's reports, by its entry in `sources.json`. */
export function reportReading(
  settings: PostbackSettings,
  { currency, time_zone: timeZone }: { currency?: string | undefined; time_zone?: string | undefined },
): ReportReading {
  return { settings, mapping: reportMapping(settings), currency: currency ?? 'USD', timeZone };
}

const printableAscii = /^[\x20-\x7e]{1,128}$/;
const maxEventId = 256;

/**
 * Statuses of ours, and the names that most networks have for them. A source says itself that it announces conversions:
 * most send the decision, too, and nothing that they call pending.
 */
const commonStatuses: Record<string, StatusMeaning> = {
  credit: 'credit',
  approved: 'credit',
  reject: 'reject',
  rejected: 'reject',
  chargeback: 'chargeback',
  ignored: 'ignored',
  pending: 'ignored',
};

/**
 * Reads a report. Throws `Refusal` for what is missing or makes no sense: nothing is guessed. `receivedAt`: the time of
 * a report that carries none, in milliseconds since the epoch. An `ignored` one is not recorded.
 */
export function readReport(
  parameters: SentParameters,
  reading: ReportReading,
  receivedAt: number,
): ReportedConversion | 'ignored' {
  if (parameters.mistake !== undefined) throw new Refusal('invalid_parameter', parameters.mistake.message);
  const fields = new ReportFields(parameters, reading);
  if (fields.arePassedOver()) return 'ignored';
  const clickId = fields.get('click_id');
  if (clickId === undefined) throw fields.mistake('click_id', 'is missing');
  if (!printableAscii.test(clickId)) throw fields.mistake('click_id', 'is not 1 to 128 printable ASCII characters');
  const eventId = fields.get('event_id');
  if (eventId !== undefined && Array.from(eventId).length > maxEventId)
    throw fields.mistake('event_id', `has more than ${maxEventId} characters`);
  const reversal = reversalOf(reading.settings);
  const { transactionId, isPrefixed } = transactionOf(fields, reversal?.id_prefix);
  const amount = amountOf(fields);
  const isReversal =
    isPrefixed ||
    (reversal?.negative_payout === true && amount?.isNegative === true) ||
    (reversal?.word !== undefined && fields.hasWord(reversal.word));
  const status = kindOf(fields, reading, isReversal);
  const kind = isReversal && status === 'credit' ? (reversal?.kind ?? status) : status;
  // A reversal that is not decided takes nothing back yet.
  if (kind === 'pending' && isReversal) return 'ignored';
  if ((kind === 'credit' || kind === 'pending') && amount?.isNegative === true)
    throw fields.mistake('payout', 'is negative, and nothing says that this takes a conversion back');
  const report = {
    clickId,
    transactionId,
    eventId,
    payout: amount?.payout,
    currency: currencyOf(fields, reading.currency),
    occurredAt: occurredAtOf(fields, reading.timeZone, receivedAt),
    reason: reasonText(fields.get('reason')),
  };
  return kind === 'ignored' ? kind : { ...report, kind };
}

/** The transaction of a report; for a reversal with an id of its own, the one that it takes back. */
function transactionOf(
  fields: ReportFields,
  prefix: string | undefined,
): { transactionId: string | undefined; isPrefixed: boolean } {
  const id = fields.get('transaction_id');
  if (prefix === undefined || id?.startsWith(prefix) !== true) return { transactionId: id, isPrefixed: false };
  const named = id.slice(prefix.length);
  if (named === '') throw fields.mistake('transaction_id', `names no conversion after ${prefix}`);
  return { transactionId: named, isPrefixed: true };
}

/**
 * The kind of a report. Without a status it is a credit, unless the source is known to send one; a reversal that is
 * known by another sign needs none.
 */
function kindOf(
  fields: ReportFields,
  { settings: { statuses }, mapping }: Pick<ReportReading, 'settings' | 'mapping'>,
  isReversal: boolean,
): StatusMeaning {
  const status = fields.get('status');
  if (status === undefined) {
    if (fields.isNamed('status') && !isReversal) throw fields.mistake('status', 'is missing');
    return 'credit';
  }
  const word = status.trim().toLowerCase();
  const own = Object.entries(statuses).find(([name]) => name.toLowerCase() === word)?.[1];
  const kind = own ?? meaningOf(word, mapping !== undefined);
  if (kind !== undefined) return kind;
  if (isReversal) return 'credit';
  throw fields.mistake('status', 'is none that is known of this source');
}

/** The meaning of a word of ours or of most networks; a mapping chooses its words, so `pending` is meant there. */
function meaningOf(word: string, isMapped: boolean): StatusMeaning | undefined {
  if (word === 'pending' && isMapped) return 'pending';
  return Object.hasOwn(commonStatuses, word) ? commonStatuses[word] : undefined;
}

/** The amount without its sign. */
function amountOf(fields: ReportFields): { payout: Micros; isNegative: boolean } | undefined {
  const text = fields.get('payout');
  if (text === undefined) return undefined;
  const [, minus, digits] = /^(-?)(.*)$/s.exec(text) as unknown as [string, string, string];
  const payout = parsePlainMoney(digits);
  if (payout === undefined)
    throw fields.mistake('payout', 'is not plain digits with up to 6 places and below a billion');
  return { payout, isNegative: minus !== '' && payout > 0n };
}

function currencyOf(fields: ReportFields, otherwise: string): string {
  const currency = fields.get('currency')?.trim().toUpperCase() ?? otherwise;
  if (!/^[A-Z]{3}$/.test(currency)) throw fields.mistake('currency', 'is not an ISO 4217 code such as EUR');
  return currency;
}

/** RFC 3339, or seconds since the epoch; without one it is when the report came. */
function occurredAtOf(fields: ReportFields, timeZone: string | undefined, receivedAt: number): Moment {
  const text = fields.get('occurred_at');
  if (text === undefined) return momentOfMilliseconds(receivedAt);
  // A space before the offset is a `+` that was sent unescaped in a query.
  const written = /^\d{9,10}$/.test(text)
    ? momentOf(BigInt(text) * 1_000_000n)
    : text.replace(/(?<=:\d\d(?:\.\d+)?) (?=\d\d:\d\d$)/, '+');
  const read = readTimestamp(written, new Date(receivedAt), timeZone);
  if ('moment' in read) return read.moment;
  const what = {
    timestamp_without_offset: 'has no offset',
    future_timestamp: 'is more than a day ahead',
    malformed: 'is no time such as 2026-11-18T10:00:00Z, nor seconds since the epoch',
  }[read.fault];
  throw fields.mistake('occurred_at', what);
}
