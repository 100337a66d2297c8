import { moneyText, type Micros } from '../../kit/text/decimal-text.ts';
import type { Moment } from '../../kit/time/moment.ts';
import type { ConversionKind } from '../../kit/vocabulary/values.ts';
import type { NetworkConversion } from '../connectors/network-conversion.ts';

/** State of a conversion as written into the landing folder so far. */
export interface EmittedConversion {
  /** Number of credits, or of rejects without one; the second goes under `<id>~2` and so on. */
  version: number;
  state: 'pending' | 'credited' | 'reversed';
  /** USD, shortest decimal text; null: the catalog's payout counts. */
  payout: string | null;
  /** The amount before it was converted, as `listedAmount` writes it; null where there was none or it is not known. */
  listed: string | null;
}

/** A line of the conversion log. */
export interface ConversionLine {
  conversion_id: string;
  click_id: string;
  kind: ConversionKind;
  occurred_at: Moment;
  event_id?: string;
  payout?: string;
  reason?: string;
}

/** A network's conversion that lines can be made of: click id, times in UTC, money in USD. */
export interface ReadyConversion {
  /** The network's own id, later the one of our logs. */
  id: string;
  /** The id that replaces it at the network. */
  laterId?: string | undefined;
  clickId: string;
  status: NetworkConversion['status'];
  occurredAt: Moment;
  /** Last change; the time of the pull where the network gives none. */
  changedAt: Moment;
  payout: string | null;
  /** The amount as it is listed, as `listedAmount` writes it; null where none is. */
  listed: string | null;
  /** Milestone of the credit. */
  eventId?: string | undefined;
  reason: string | undefined;
}

/** Statuses by the words of a mapping for what a conversion has become. */
export const statusOfState = {
  pending: 'pending',
  credit: 'approved',
  reject: 'rejected',
  chargeback: 'charged_back',
} as const satisfies Record<ConversionKind, NetworkConversion['status']>;

/**
 * Returns the lines that bring our logs to the network's current state, none where they agree, and the state after
 * them. A log cannot take back a reject or an amount, so a conversion that is credited again or at another amount is
 * charged back and credited under another id. A pending one is announced once, as it is then. An amount is another one
 * where it is listed otherwise: one in another currency stays as it was converted, whatever the rate is by now.
 */
export function linesFor(
  conversion: ReadyConversion,
  emitted: EmittedConversion | undefined,
): { lines: ConversionLine[]; emitted: EmittedConversion | undefined } {
  const { status, payout, listed } = conversion;
  const version = emitted?.version ?? 1;
  if (status === 'pending')
    return emitted === undefined
      ? { lines: [lineOf(conversion, 'pending', version)], emitted: { version, state: 'pending', payout, listed } }
      : { lines: [], emitted };
  const isUndecided = emitted === undefined || emitted.state === 'pending';
  if (status === 'rejected' || status === 'charged_back') {
    if (emitted?.state === 'reversed') return { lines: [], emitted };
    const reject = lineOf(conversion, status === 'rejected' ? 'reject' : 'chargeback', version);
    // A reject takes milestone and amount from the credit; without one the whole catalog's payout would count.
    const own = isUndecided ? creditOf({ ...conversion, payout: refusedAmount(payout, emitted) }) : {};
    return { lines: [{ ...reject, ...own }], emitted: { version, state: 'reversed', payout, listed } };
  }
  if (isUndecided)
    return { lines: [lineOf(conversion, 'credit', version)], emitted: { version, state: 'credited', payout, listed } };
  if (emitted.state === 'credited' && isSameAmount(conversion, emitted))
    return { lines: [], emitted: emitted.listed === listed ? emitted : { ...emitted, listed } };
  return {
    lines: [
      ...(emitted.state === 'credited' ? [lineOf(conversion, 'chargeback', version)] : []),
      lineOf(conversion, 'credit', version + 1),
    ],
    emitted: { version: version + 1, state: 'credited', payout, listed },
  };
}

/** Networks list what they refuse at 0, or without an amount: then it is the one that was announced. */
function refusedAmount(listed: string | null, announced: EmittedConversion | undefined): string | null {
  return listed === null || listed === '0' ? (announced?.payout ?? listed) : listed;
}

function isSameAmount({ payout, listed }: ReadyConversion, emitted: EmittedConversion): boolean {
  return emitted.listed === null ? emitted.payout === payout : emitted.listed === listed;
}

/** Writes an amount before it is converted, for comparison with a later one. */
export function listedAmount(amount: Micros, currency: string): string {
  return `${moneyText(amount)} ${currency}`;
}

function lineOf(
  { id, clickId, occurredAt, changedAt, payout, eventId, reason }: ReadyConversion,
  kind: ConversionLine['kind'],
  version: number,
): ConversionLine {
  const isAsItHappened = kind === 'credit' || kind === 'pending';
  return {
    conversion_id: version === 1 ? id : `${id}~${version}`,
    click_id: clickId,
    kind,
    occurred_at: isAsItHappened ? occurredAt : changedAt,
    ...(isAsItHappened ? creditOf({ payout, eventId }) : {}),
    ...(reason === undefined || isAsItHappened ? {} : { reason }),
  };
}

function creditOf({ payout, eventId }: Pick<ReadyConversion, 'payout' | 'eventId'>): Partial<ConversionLine> {
  return { ...(eventId === undefined ? {} : { event_id: eventId }), ...(payout === null ? {} : { payout }) };
}
