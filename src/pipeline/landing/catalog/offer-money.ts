import { maxMembers } from '../../../kit/vocabulary/offer-bounds.ts';
import type { OfferEvent } from '../../../kit/vocabulary/offer-fields.ts';
import { convertMoney, moneyText, parseMoney, sumMoney, type Micros } from '../../../kit/text/decimal-text.ts';
import { isJsonObject, parseJson, type JsonValue } from '../../../kit/text/json-text.ts';
import { RecordFields, RecordReject } from './record-fields.ts';

/** Settings by which amounts in other currencies than USD are read. */
export interface CurrencyReading {
  /** USD for one unit of a currency, by ISO 4217 code, as decimal text. */
  currencyRates: Record<string, string>;
  /** Called with each currency other than USD that an amount is in, whether or not it has a rate. */
  onCurrency?: (currency: string) => void;
}

const eventFields = new Set(['event_id', 'description', 'payout']);

interface OfferMoney {
  payout: string;
  events: OfferEvent[];
  /** The currency that both were in, and USD for one unit of it. */
  currency: string;
  currency_rate: string;
}

/** Reads an offer's payout and milestones, in USD. Throws `RecordReject`: money is never guessed. */
export function readOfferMoney(fields: RecordFields, reading: CurrencyReading): OfferMoney {
  const { currency, rate } = readCurrency(fields, reading);
  const toUsd = converter(currency, rate);
  const events = eventList(fields).map((event) => {
    if (!isJsonObject(event)) throw new RecordReject('bad_events');
    const of = new RecordFields(event, false, { of: fields, prefix: 'events.' });
    of.warnOfUnknown(eventFields);
    const payout = of.scalar('payout');
    if (payout === undefined) throw new RecordReject('missing_event_payout');
    return {
      event_id: of.identifier('event_id'),
      descriptions: of.localized('description') ?? {},
      payout: toUsd(payout, 'bad_event_payout'),
    };
  });
  if (new Set(events.map((event) => event.event_id)).size < events.length) throw new RecordReject('duplicate_event_id');

  const written = fields.scalar('payout');
  if (written === undefined && events.length === 0) throw new RecordReject('missing_payout');
  const payout = written === undefined ? sumMoney(events.map((event) => event.payout)) : toUsd(written, 'bad_payout');
  if (payout === undefined) throw new RecordReject('bad_payout');
  return {
    payout: moneyText(payout),
    events: events.map((event) => ({ ...event, payout: moneyText(event.payout) })),
    currency,
    currency_rate: rate,
  };
}

/** The milestones: a list, or JSON text of one, as in a CSV cell. */
function eventList(fields: RecordFields): JsonValue[] {
  const value = fields.value('events');
  if (value === undefined) return [];
  const list = typeof value === 'string' && fields.textCells ? parseJson(value) : value;
  // The first thousand alone would pay less than the offer does, and leave conversions of the others without a payout.
  if (!Array.isArray(list) || list.length > maxMembers) throw new RecordReject('bad_events');
  return list;
}

function readCurrency(
  fields: RecordFields,
  { currencyRates: rates, onCurrency }: CurrencyReading,
): { currency: string; rate: string } {
  const currency =
    fields.scalar('currency') === undefined ? 'USD' : (fields.scalar('currency') ?? '').trim().toUpperCase();
  if (currency !== 'USD') onCurrency?.(currency);
  const rate = currency === 'USD' ? '1' : Object.hasOwn(rates, currency) ? rates[currency] : undefined;
  if (rate === undefined) throw new RecordReject('no_rate');
  return { currency, rate };
}

function converter(currency: string, rate: string): (text: string | null, fault: string) => Micros {
  return (text, fault) => {
    const amount = text === null ? undefined : parseMoney(text);
    const usd = amount === undefined || currency === 'USD' ? amount : convertMoney(amount, rate);
    if (usd === undefined) throw new RecordReject(fault);
    return usd;
  };
}
