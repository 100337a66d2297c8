import { listedKey } from '../../landing/lines/map-lines.ts';
import { rejectKey } from '../../landing/lines/mapped-line.ts';
import { listedAmount, statusOfState, type ReadyConversion } from '../../../sources/conversions/emitted-conversions.ts';
import { jsonId } from '../../../kit/text/json-id.ts';
import { moneyText, parseMoney } from '../../../kit/text/decimal-text.ts';
import { isJsonObject, JsonNumber, parseJson, type JsonObject, type JsonValue } from '../../../kit/text/json-text.ts';
import { reasonText } from '../../../kit/text/reason-text.ts';
import { compareMoments, dateOf, microsecondsOf, type Moment } from '../../../kit/time/moment.ts';
import { isPrintableAscii, maxCreditedId } from '../../../kit/vocabulary/conversion-id.ts';
import { readTimestamp } from '../../../kit/time/timestamp-text.ts';

/** A row that says what state a conversion is in. */
export interface StateRow extends ReadyConversion {
  /** The id as the row has it: blanks around it, and a number in its own spelling. */
  writtenId: string;
  /** Text by which rows of a conversion sort; null where the mapping names no version. */
  version: string | null;
}

export interface StateReading {
  /** RFC 3339; a time more than 24 hours after it is refused. */
  wallClock: Moment;
  /** Zone of times without an offset. */
  timeZone: string | undefined;
  /** Time of a change that the row does not state. */
  changedAt: Moment;
}

/**
 * Reads a mapped row of state. Returns the row of an event in its place where something of it cannot be read: landing
 * rejects that by its own rules, under the row's own line. The row names a fault that these rules do not find, or only
 * after they find that a pending row is no event.
 */
export function readStateRow(line: string, reading: StateReading): StateRow | { rejected: JsonObject } {
  const record = parseJson(line);
  if (!isJsonObject(record)) return { rejected: {} };
  const { status, changed_at, version, [listedKey]: listed, ...event } = record;
  const rejected = (fault?: string) => ({
    rejected: {
      ...event,
      kind: status ?? null,
      ...(fault === undefined ? {} : { [rejectKey]: fault }),
    } satisfies JsonObject,
  });
  if (record[rejectKey] !== undefined) return rejected();
  const text = (name: string) => textOf(record[name]);
  const readId = (name: string) => jsonId(record[name]) ?? undefined;
  // Clicks and milestones have their ids as they are in click logs and catalogs, with blanks around, too.
  const [id, clickId, eventId] = [readId('conversion_id')?.trim(), readId('click_id'), readId('event_id')];
  const known = Object.entries(statusOfState).find(([word]) => word === status)?.[1];
  if (id === undefined) return rejected();
  if (id === '') return rejected('bad_conversion_id');
  if (!isPrintableAscii(id)) return rejected();
  if (id.length > maxCreditedId) return rejected('bad_conversion_id');
  if (clickId === undefined || clickId.length > 128 || !isPrintableAscii(clickId)) return rejected();
  if (known === undefined) return rejected();
  const occurred = momentOf('occurred_at', record['occurred_at'], reading);
  if (typeof occurred !== 'string') return rejected(occurred.fault);
  if (eventId === undefined ? (record['event_id'] ?? null) !== null : !isName(eventId)) return rejected('bad_event_id');
  // USD: the mapping has converted it. A value of another kind is no amount.
  const payout = text('payout');
  const amount = payout === undefined ? undefined : parseMoney(payout);
  if (amount === undefined && record['payout'] !== undefined && record['payout'] !== null)
    return rejected('bad_payout');
  const isStated = changed_at !== undefined && changed_at !== null && !isNever(changed_at);
  const changed = isStated ? momentOf('changed_at', changed_at, reading) : reading.changedAt;
  if (typeof changed !== 'string') return rejected(changed.fault);
  return {
    id,
    writtenId: text('conversion_id') ?? id,
    clickId,
    eventId,
    status: known,
    occurredAt: occurred,
    // Nothing is taken back before it happened.
    changedAt: compareMoments(changed, occurred) < 0 ? occurred : changed,
    payout: amount === undefined ? null : moneyText(amount),
    listed: textOf(listed) ?? (amount === undefined ? null : listedAmount(amount, 'USD')),
    reason: reasonText(text('reason')),
    version: versionOf(textOf(version) ?? textOf(changed_at)),
  };
}

/** MySQL writes a time that was never set as zeros, which sort before all times. */
function isNever(value: JsonValue): boolean {
  return /^\s*0000-00-00(?:[T ]00:00:00(?:\.0+)?)?\s*$/.test(textOf(value) ?? '');
}

function textOf(value: JsonValue | undefined): string | undefined {
  if (value instanceof JsonNumber) return value.text;
  return typeof value === 'string' ? value : undefined;
}

function isName(text: string): boolean {
  return text.length > 0 && Array.from(text).length <= 256 && text.isWellFormed() && !text.includes('\0');
}

/** Reads when a conversion happened, or changed; the faults are those of `occurred_at` in a log. */
function momentOf(
  field: string,
  value: JsonValue | undefined,
  { wallClock, timeZone }: StateReading,
): Moment | { fault: string } {
  if (value === undefined || value === null) return { fault: `missing_${field}` };
  const read = readTimestamp(textOf(value) ?? '', dateOf(wallClock), timeZone);
  if ('moment' in read) return read.moment;
  return { fault: read.fault === 'malformed' ? `bad_${field}` : read.fault };
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
