import { integer, offerType, withDefault } from '../http/parameters.ts';
import type { OfferType } from '../http/parameters.ts';
import type { Query } from '../http/query.ts';

export const parametersB = {
  type: offerType,
  take: withDefault(integer('take', 'Most offers to return', 1, 10_000), 100),
  skip: withDefault(integer('skip', 'Leading offers to leave out', 0), 0),
};

export interface ParametersB {
  /** Undefined: offers of both types. */
  type: OfferType | undefined;
  take: number;
  skip: number;
}

export function readParametersB(query: Query): ParametersB {
  const { type, take, skip } = parametersB;
  return {
    type: type.read(query),
    take: take.read(query) ?? take.otherwise,
    skip: skip.read(query) ?? skip.otherwise,
  };
}

export function keyOfParametersB({ type, take, skip }: ParametersB): string {
  return `${type ?? ''} ${take} ${skip}`;
}
