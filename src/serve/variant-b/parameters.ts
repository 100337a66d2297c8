import { readInteger, readOfferType } from '../parameters.ts';
import type { OfferType } from '../parameters.ts';
import type { Query } from '../query.ts';

export interface ParametersB {
  /** Undefined: offers of both types. */
  type: OfferType | undefined;
  take: number;
  skip: number;
}

export function readParametersB(query: Query): ParametersB {
  return {
    type: readOfferType(query),
    take: readInteger(query, 'take', 1, 10_000) ?? 100,
    skip: readInteger(query, 'skip', 0) ?? 0,
  };
}

export function keyOfParametersB({ type, take, skip }: ParametersB): string {
  return `${type ?? ''} ${take} ${skip}`;
}
