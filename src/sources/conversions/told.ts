import type { Moment } from '../../kit/time/moment.ts';
import type { NetworkConversion } from '../connectors/network-conversion.ts';

/** What was written into the landing folder of a conversion so far. */
export interface Told {
  /** How often it was credited, or rejected at once; later ones go under `<id>~2` and so on. */
  version: number;
  state: 'credited' | 'reversed';
  /** In USD, shortest decimal text; null where the catalog's counts. */
  payout: string | null;
}

/** A line of the conversion log. */
export interface ConversionLine {
  conversion_id: string;
  click_id: string;
  kind: 'credit' | 'reject' | 'chargeback';
  occurred_at: Moment;
  payout?: string;
  reason?: string;
}

/** A conversion of a network ready to be told: its click known by name, times in UTC, money in USD. */
export interface ReadyConversion {
  /** As the network has it, and in our logs with its source. */
  id: string;
  clickId: string;
  status: NetworkConversion['status'];
  occurredAt: Moment;
  /** Of the last change, or of the pull where the network does not say it. */
  changedAt: Moment;
  payout: string | null;
  reason: string | undefined;
}

/**
 * What a conversion's state of today adds to what was told: nothing where it says the same. A log cannot take a reject
 * or an amount back, so a conversion that is credited again or at another amount is charged back and credited under
 * another id. One that waits is not told yet.
 */
export function linesFor(
  conversion: ReadyConversion,
  told: Told | undefined,
): { lines: ConversionLine[]; told: Told | undefined } {
  const { status, payout } = conversion;
  const version = told?.version ?? 1;
  if (status === 'pending') return { lines: [], told };
  if (status === 'rejected') {
    if (told?.state === 'reversed') return { lines: [], told };
    const reject = lineOf(conversion, 'reject', version);
    // Without a credit to go by, the catalog's payout would stand for an amount that the network has told.
    const amount = told === undefined && payout !== null ? { payout } : {};
    return { lines: [{ ...reject, ...amount }], told: { version, state: 'reversed', payout } };
  }
  if (told === undefined)
    return { lines: [lineOf(conversion, 'credit', 1)], told: { version: 1, state: 'credited', payout } };
  if (told.state === 'credited' && told.payout === payout) return { lines: [], told };
  return {
    lines: [
      ...(told.state === 'credited' ? [lineOf(conversion, 'chargeback', version)] : []),
      lineOf(conversion, 'credit', version + 1),
    ],
    told: { version: version + 1, state: 'credited', payout },
  };
}

function lineOf(
  { id, clickId, occurredAt, changedAt, payout, reason }: ReadyConversion,
  kind: ConversionLine['kind'],
  version: number,
): ConversionLine {
  return {
    conversion_id: version === 1 ? id : `${id}~${version}`,
    click_id: clickId,
    kind,
    occurred_at: kind === 'credit' ? occurredAt : changedAt,
    ...(payout === null || kind !== 'credit' ? {} : { payout }),
    ...(reason === undefined || kind === 'credit' ? {} : { reason }),
  };
}
