import { decimalOf } from '../../text/decimal-text.ts';
import { isoMomentPattern, parseIsoMoment } from '../../time/iso-moment.ts';
import type { Microseconds } from '../../time/iso-moment.ts';
import { leastAmountFrom } from '../offers/money.ts';
import { choice, integer, offerType, parameter, pattern, text, withDefault } from '../http/parameters.ts';
import type { OfferType } from '../http/parameters.ts';
import type { Query } from '../http/query.ts';

export const parametersC = {
  type: withDefault(offerType, 'offer'),
  limit: withDefault(integer('limit', 'Most offers to return; wins over take', 1, 500), 100),
  take: withDefault(integer('take', 'Alias of limit', 1, 500), 100),
  offset: withDefault(integer('offset', 'Leading offers to leave out; wins over skip', 0), 0),
  skip: withDefault(integer('skip', 'Alias of offset', 0), 0),
  country: pattern(
    'country',
    'ISO 3166-1 alpha-2 in any case: offers available there',
    '^[A-Za-z]{2}$',
    'country must be a code of two letters such as US',
  ),
  device: choice('device', 'Offers for this device', ['android', 'ios', 'desktop']),
  category: text('category', 'Category name in any case'),
  minPayout: pattern(
    'min_payout',
    'Least payout in USD, after commission',
    '^[0-9]+(\\.[0-9]+)?$',
    'min_payout must be plain digits with an optional fraction, such as 0.5',
  ),
  updatedSince: parameter(
    'updated_since',
    'ISO 8601 date or date-time, UTC without an offset: offers updated after it',
    {
      schema: { type: 'string', pattern: isoMomentPattern },
      valueOf: parseIsoMoment,
      mistake: 'updated_since must be an ISO 8601 date or date-time such as 2026-11-20T08:00:00Z',
      refusal: 'wrong_date',
    },
  ),
  includeRemoved: withDefault(
    choice('include_removed', '1 with updated_since: also tell what left the list since then', ['0', '1']),
    '0',
  ),
};

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
  const { limit, offset, country, device, category, minPayout, updatedSince, includeRemoved } = parametersC;
  const type = parametersC.type.read(query) ?? parametersC.type.otherwise;
  // An alias is checked even where the name that it stands for wins.
  const take = parametersC.take.read(query);
  const skip = parametersC.skip.read(query);
  return {
    type,
    limit: limit.read(query) ?? take ?? limit.otherwise,
    offset: offset.read(query) ?? skip ?? offset.otherwise,
    filters: {
      country: country.read(query)?.toUpperCase(),
      device: device.read(query),
      category: category.read(query)?.toLowerCase(),
      minPayout: leastPayout(minPayout.read(query)),
      updatedSince: updatedSince.read(query),
    },
    includeRemoved: includeRemoved.read(query) === '1',
  };
}

/** The category stands last: it is the only text that a publisher chooses freely. */
export function keyOfParametersC({ type, limit, offset, filters, includeRemoved }: ParametersC): string {
  const { country = '', device = '', minPayout = '', updatedSince = '', category = '' } = filters;
  return `${type} ${limit} ${offset} ${includeRemoved ? 'removed' : ''} ${country} ${device} ${minPayout} ${updatedSince} ${category}`;
}

function leastPayout(digits: string | undefined): bigint | undefined {
  return digits === undefined ? undefined : leastAmountFrom(decimalOf(digits));
}
