import { z } from 'zod';
import { addDays, dayOf } from '../../kit/time/moment.ts';
import { hourly } from '../access/limits.ts';
import { errorsBySecret, pageOperation } from '../endpoints/operation.ts';
import { topConvertingMilliseconds } from '../http/caching.ts';
import { integer, offerType, siteKey, siteSecret } from '../http/parameters.ts';
import { offersBodyB, topConvertingBody } from './bodies.ts';
import { templateB, topConvertingTemplate } from './offer-template.ts';
import { variantB } from './variant.ts';

const [defaultTake, defaultSkip] = [100, 0];

const querystring = z
  .object({
    site_key: siteKey,
    site_secret: siteSecret,
    type: offerType.optional(),
    take: integer('take', 'Most offers to return', defaultTake, 1, 10_000),
    skip: integer('skip', 'Leading offers to leave out', defaultSkip, 0),
  })
  .transform(({ type, take = defaultTake, skip = defaultSkip }) => ({ type, take, skip }));

const errorKinds = [...errorsBySecret, 'wrong_type', 'wrong_parameter'] as const;

/** `GET /api/v1/offers` of Variant B. */
export const offersB = pageOperation({
  path: '/b/api/v1/offers',
  operationId: 'listOffersB',
  summary: 'The offer list',
  variant: variantB,
  limit: hourly('B offers'),
  querystring,
  body: offersBodyB,
  errorKinds,
  page: (snapshot, feed, { type, take, skip }) => ({
    head: '{"success":true,"version":"v1","offers":{"data":[',
    offers: feed.shared.ofType(type, skip, take),
    templates: snapshot.templatesOf(templateB, feed.links),
    feed,
    link: feed.encodedKey,
    tail: ']}}',
  }),
});

/** `GET /api/v1/offers/top-converting`: hottest first, ranked within the type that was asked for. */
export const topConverting = pageOperation({
  path: '/b/api/v1/offers/top-converting',
  operationId: 'listTopConvertingOffers',
  summary: 'Offers that converted in the last 48 hours, hottest first; the same answer for 5 minutes per parameter set',
  variant: variantB,
  limit: hourly('B offers'),
  querystring,
  body: topConvertingBody,
  errorKinds,
  heldMilliseconds: topConvertingMilliseconds,
  page(snapshot, feed, { type, take, skip }) {
    const ranked =
      type === undefined
        ? feed.shared.ranked
        : feed.shared.ranked.filter((offer) => offer.multireward === (type === 'multireward'));
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
