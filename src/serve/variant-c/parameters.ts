import { decimalOf, leastAmountFrom } from '../money.ts';
import { parseMoment } from '../moments.ts';
import type { Microseconds } from '../moments.ts';
import { readChoice, readInteger, readOfferType, readText } from '../parameters.ts';
import type { OfferType } from '../parameters.ts';
import type { Query } from '../query.ts';
import { Refusal } from '../refusal.ts';

export interface ParametersC {
  type: OfferType;
  limit: number;
  offset: number;
  filters: FiltersC;
  /** Says what left the list since `updatedSince`. */
  includeRemoved: boolean;
}

export interface FiltersC {
  /** ISO 3166-1 alpha-2, upper case. */
  country: string | undefined;
  device: string | undefined;
  /** In lower case. */
  category: string | undefined;
  /** Ten-thousandths of a USD, as published. */
  minPayout: bigint | undefined;
  /** Only what changed strictly after this moment. */
  updatedSince: Microseconds | undefined;
}

export function readParametersC(query: Query): ParametersC {
  const type = readOfferType(query) ?? 'offer';
  // An alias is checked even where the name that it stands for wins.
  const take = readInteger(query, 'take', 1, 500);
  const skip = readInteger(query, 'skip', 0);
  return {
    type,
    limit: readInteger(query, 'limit', 1, 500) ?? take ?? 100,
    offset: readInteger(query, 'offset', 0) ?? skip ?? 0,
    filters: {
      country: readCountry(query),
      device: readChoice(query, 'device', ['android', 'ios', 'desktop']),
      category: readText(query, 'category')?.toLowerCase(),
      minPayout: readMinPayout(query),
      updatedSince: readUpdatedSince(query),
    },
    includeRemoved: readChoice(query, 'include_removed', ['0', '1']) === '1',
  };
}

/** The category stands last: it is the only text that a publisher chooses freely. */
export function keyOfParametersC({ type, limit, offset, filters, includeRemoved }: ParametersC): string {
  const { country = '', device = '', minPayout = '', updatedSince = '', category = '' } = filters;
  return `${type} ${limit} ${offset} ${includeRemoved ? 'removed' : ''} ${country} ${device} ${minPayout} ${updatedSince} ${category}`;
}

function readCountry(query: Query): string | undefined {
  const text = readText(query, 'country');
  if (text === undefined) return undefined;
  if (!/^[A-Za-z]{2}$/.test(text)) throw new Refusal('wrong_parameter', 'country must be a code of two letters such as US');
  return text.toUpperCase();
}

function readMinPayout(query: Query): bigint | undefined {
  const text = readText(query, 'min_payout');
  if (text === undefined) return undefined;
  if (!/^\d+(\.\d+)?$/.test(text)) throw new Refusal('wrong_parameter', 'min_payout must be plain digits with an optional fraction, such as 0.5');
  return leastAmountFrom(decimalOf(text));
}

function readUpdatedSince(query: Query): Microseconds | undefined {
  const text = readText(query, 'updated_since');
  if (text === undefined) return undefined;
  const moment = parseMoment(text);
  if (moment === undefined) {
    throw new Refusal('wrong_date', 'updated_since must be an ISO 8601 date or date-time such as 2026-11-20T08:00:00Z');
  }
  return moment;
}
