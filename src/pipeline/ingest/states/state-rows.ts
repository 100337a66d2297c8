import { rejectKey } from '../../landing/lines/mapped-line.ts';
import type { ReadyConversion } from '../../../sources/conversions/emitted-conversions.ts';
import { convertMoney, moneyText, parseMoney } from '../../../kit/text/decimal-text.ts';
import { isJsonObject, JsonNumber, parseJson, type JsonObject, type JsonValue } from '../../../kit/text/json-text.ts';
import { compareMoments, dateOf, microsecondsOf, type Moment } from '../../../kit/time/moment.ts';
import { readTimestamp } from '../../../kit/time/timestamp-text.ts';

/** A row that says how a conversion stands. */
export interface StateRow extends ReadyConversion {
  /** Text by which rows of a conversion sort; null where the mapping names no version. */
  version: string | null;
}

export interface StateReading {
  /** RFC 3339; a time more than 24 hours after it is refused. */
  wallClock: Moment;
  /** Zone of times without an offset. */
  timeZone: string | undefined;
  /** USD for one unit of a currency, by ISO 4217 code. */
  rates: Readonly<Record<string, string>>;
  /** Time of a change that the row does not state. */
  changedAt: Moment;
}

const statuses = {
  pending: 'pending',
  credit: 'approved',
  reject: 'rejected',
  chargeback: 'charged_back',
} as const satisfies Record<string, ReadyConversion['status']>;

/** Room for the suffix of another credit, as `~12`, in the 128 characters that an id may have. */
const maxId = 120;
const printableAscii = /^[\x20-\x7e]+$/;

/**
 * Reads a mapped row of state. Returns the row of an event in its place where something of it cannot be read: landing
 * rejects that by its own rules, under the row's own line.
 */
export function readStateRow(line: string, reading: StateReading): StateRow | { rejected: JsonObject } {
  const record = parseJson(line);
  if (!isJsonObject(record)) return { rejected: {} };
  const { status, changed_at, version, currency, ...event } = record;
  const rejected = (reason?: string) => ({
    rejected: { ...event, kind: status ?? null, ...(reason !== undefined && { [rejectKey]: reason }) } as JsonObject,
  });
  const text = (name: string) => textOf(record[name]);
  const [id, clickId, eventId] = [text('conversion_id'), text('click_id'), text('event_id')];
  const known = Object.entries(statuses).find(([word]) => word === status)?.[1];
  if (id === undefined || id.length > maxId || !printableAscii.test(id)) return rejected();
  if (clickId === undefined || clickId.length > 128 || !printableAscii.test(clickId)) return rejected();
  if (known === undefined || (eventId !== undefined && !isName(eventId))) return rejected();
  const occurred = momentOf(text('occurred_at'), reading);
  if (occurred === undefined) return rejected();
  const payout = amountOf(text('payout'), textOf(currency), reading.rates);
  if ('fault' in payout) return rejected(payout.fault);
  const changed = momentOf(textOf(changed_at), reading) ?? reading.changedAt;
  return {
    id,
    clickId,
    eventId,
    status: known,
    occurredAt: occurred,
    // Nothing is taken back before it happened.
    changedAt: compareMoments(changed, occurred) < 0 ? occurred : changed,
    payout: payout.usd,
    reason: text('reason'),
    version: versionOf(textOf(version) ?? textOf(changed_at)),
  };
}

function textOf(value: JsonValue | undefined): string | undefined {
  if (value instanceof JsonNumber) return value.text;
  return typeof value === 'string' ? value : undefined;
}

function isName(text: string): boolean {
  return text.length > 0 && Array.from(text).length <= 256 && text.isWellFormed() && !text.includes('\0');
}

function momentOf(text: string | undefined, { wallClock, timeZone }: StateReading): Moment | undefined {
  const read = text === undefined ? undefined : readTimestamp(text, dateOf(wallClock), timeZone);
  return read !== undefined && 'moment' in read ? read.moment : undefined;
}

function amountOf(
  payout: string | undefined,
  currency: string | undefined,
  rates: Readonly<Record<string, string>>,
): { usd: string | null } | { fault: string | undefined } {
  if (payout === undefined) return { usd: null };
  const amount = parseMoney(payout);
  if (amount === undefined) return { fault: undefined };
  const code = (currency ?? 'USD').trim().toUpperCase();
  if (code === 'USD') return { usd: moneyText(amount) };
  const rate = Object.hasOwn(rates, code) ? rates[code] : undefined;
  if (rate === undefined) return { fault: 'no_rate' };
  const usd = convertMoney(amount, rate);
  return usd === undefined ? { fault: undefined } : { usd: moneyText(usd) };
}

const digits = 20;

/** Text that sorts as times do, or numbers, or the texts themselves. */
function versionOf(text: string | undefined): string | null {
  if (text === undefined) return null;
  const moment = readTimestamp(text, new Date(8.64e15), 'UTC');
  if ('moment' in moment) return String(microsecondsOf(moment.moment)).padStart(digits, '0');
  const [, whole, fraction = ''] = /^(\d{1,19})(\.\d+)?$/.exec(text) ?? [];
  return whole === undefined ? text : whole.padStart(digits, '0') + fraction;
}
