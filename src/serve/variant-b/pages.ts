import { addDays, dayOf } from '../../kit/time/moment.ts';
import { hourly } from '../access/limits.ts';
import { pageEndpoint } from '../endpoints/endpoint.ts';
import { topConvertingMilliseconds } from '../http/caching.ts';
import { templateB, topConvertingTemplate } from './offer-template.ts';
import { variantB } from './variant.ts';
import { integer, offerType, withDefault } from '../../kit/http/query.ts';
import type { OfferType, Query } from '../../kit/http/query.ts';

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

function readParametersB(query: Query): ParametersB {
  const { type, take, skip } = parametersB;
  return {
    type: type.read(query),
    take: take.read(query) ?? take.otherwise,
    skip: skip.read(query) ?? skip.otherwise,
  };
}

function keyOfParametersB({ type, take, skip }: ParametersB): string {
  return `${type ?? ''} ${take} ${skip}`;
}

/** `GET /api/v1/offers` of Variant B. */
export const offersB = pageEndpoint({
  variant: variantB,
  limit: hourly('B offers'),
  name: 'offers-b',
  read: readParametersB,
  key: keyOfParametersB,
  page: (snapshot, feed, { type, take, skip }) => ({
    head: '{"success":true,"version":"v1","offers":{"data":[',
    offers: snapshot.indexesOf(type).slice(skip, skip + take),
    templates: snapshot.templatesOf(templateB, feed.links),
    feed,
    link: feed.encodedKey,
    tail: ']}}',
  }),
});

/** `GET /api/v1/offers/top-converting`: hottest first, ranked within the type that was asked for. */
export const topConverting = pageEndpoint({
  variant: variantB,
  limit: hourly('B offers'),
  name: 'top-converting',
  heldMilliseconds: topConvertingMilliseconds,
  read: readParametersB,
  key: keyOfParametersB,
  page(snapshot, feed, { type, take, skip }) {
    const ranked =
      type === undefined
        ? snapshot.ranked
        : snapshot.ranked.filter((offer) => offer.multireward === (type === 'multireward'));
    const today = dayOf(snapshot.asOf);
    const window = { yesterday: addDays(today, -1), today };
    return {
      head: `{"success":true,"version":"v1","total":${ranked.length},"window":${JSON.stringify(window)},"offers":[`,
      offers: ranked.slice(skip, skip + take).map(({ index }) => index),
      templates: snapshot.templatesOf(topConvertingTemplate, feed.links),
      feed,
      link: feed.encodedKey,
      firstRank: skip + 1,
      tail: ']}',
    };
  },
});
