import { hash } from 'node:crypto';
import { moneyText, type Micros } from '../../../kit/text/decimal-text.ts';
import type { Moment } from '../../../kit/time/moment.ts';
import { isPrintableAscii, maxConversionId } from '../../../kit/vocabulary/conversion-id.ts';
import type { ConversionKind } from '../../../kit/vocabulary/values.ts';

/** A conversion as it is recorded: one line of the conversion log. */
export interface ConversionRecord {
  conversionId: string;
  clickId: string;
  kind: ConversionKind;
  occurredAt: Moment;
  eventId: string | undefined;
  /** Gross USD. */
  payout: Micros | undefined;
  /**
   * Payouts with which a copy of a report without a payout may have been recorded: the catalog's of that time may be in
   * its row. Default: its own.
   */
  payouts?: readonly (Micros | undefined)[];
  reason: string | undefined;
}

/**
 * Makes the id of a source's conversion: by its transaction, and where it has none, by click and milestone; by a digest
 * of those where landing would not take them as an id.
 */
export function makeConversionId(
  source: string,
  {
    transactionId,
    clickId,
    eventId,
  }: { transactionId: string | undefined; clickId: string; eventId: string | undefined },
): string {
  const own = transactionId ?? `${clickId}:${eventId ?? '-'}`;
  const id = `${source}:${own}`;
  return id.length <= maxConversionId && isPrintableAscii(own) ? id : `${source}:~${hash('sha256', own, 'hex')}`;
}

/**
 * A line of the log with landing's order of fields, and the payout as a number in plain digits: ingest reads such lines
 * quickest.
 */
export function conversionLine({
  conversionId,
  clickId,
  kind,
  occurredAt,
  eventId,
  payout,
  reason,
}: ConversionRecord): string {
  const texts = (fields: Record<string, string | undefined>) =>
    Object.entries(fields).flatMap(([name, text]) => (text === undefined ? [] : [`"${name}":${JSON.stringify(text)}`]));
  return `{${[
    ...texts({ conversion_id: conversionId, click_id: clickId, kind, occurred_at: occurredAt, event_id: eventId }),
    ...(payout === undefined ? [] : [`"payout":${moneyText(payout)}`]),
    ...texts({ reason }),
  ].join(',')}}`;
}
