import { hash } from 'node:crypto';
import { moneyText, type Micros } from '../../../kit/text/decimal-text.ts';
import type { Moment } from '../../../kit/time/moment.ts';
import type { ConversionKind } from '../../../kit/vocabulary/values.ts';

/** One line of the conversion log, before it is text. */
export interface ConversionRow {
  conversionId: string;
  clickId: string;
  kind: ConversionKind;
  occurredAt: Moment;
  eventId: string | undefined;
  /** Gross USD. */
  payout: Micros | undefined;
  /**
   * Payouts that the same report may have been recorded with, where it says none: the catalog's of then may have been
   * written down for it. Default: its own.
   */
  payouts?: readonly (Micros | undefined)[];
  reason: string | undefined;
}

/** What landing takes as an id. */
const longestId = 128;
const printableAscii = /^[\x20-\x7e]+$/;

/**
 * The id of a source's conversion: by its transaction, and where it has none, by click and milestone. What would make
 * no id is told by its digest.
 */
export function conversionIdOf(
  source: string,
  {
    transactionId,
    clickId,
    eventId,
  }: { transactionId: string | undefined; clickId: string; eventId: string | undefined },
): string {
  const own = transactionId ?? `${clickId}:${eventId ?? '-'}`;
  const id = `${source}:${own}`;
  return id.length <= longestId && printableAscii.test(own) ? id : `${source}:~${hash('sha256', own, 'hex')}`;
}

/**
 * In landing's order of fields and with the payout as a number in plain digits: lines that ingest has to look at least.
 */
export function conversionLine({
  conversionId,
  clickId,
  kind,
  occurredAt,
  eventId,
  payout,
  reason,
}: ConversionRow): string {
  const texts = (fields: Record<string, string | undefined>) =>
    Object.entries(fields).flatMap(([name, text]) => (text === undefined ? [] : [`"${name}":${JSON.stringify(text)}`]));
  return `{${[
    ...texts({ conversion_id: conversionId, click_id: clickId, kind, occurred_at: occurredAt, event_id: eventId }),
    ...(payout === undefined ? [] : [`"payout":${moneyText(payout)}`]),
    ...texts({ reason }),
  ].join(',')}}`;
}
