import { heldPageEndpoint, pageEndpoint } from '../endpoints/endpoint.ts';
import { windowOf } from '../offers/moments.ts';
import { hourly } from '../access/rate-limits.ts';
import { openFormB } from './offer-text.ts';
import { keyOfParametersB, readParametersB } from './parameters.ts';
import { variantB } from './variant.ts';

/** `GET /api/v1/offers` of Variant B. */
export const offersB = pageEndpoint({
  variant: variantB,
  limit: hourly('B offers'),
  name: 'offers-b',
  read: readParametersB,
  key: keyOfParametersB,
  write(snapshot, feed, { type, take, skip }) {
    const offers = snapshot.positionsOf(type).slice(skip, skip + take);
    const texts = snapshot.textsOf(openFormB, feed.links);
    return {
      head: '{"success":true,"version":"v1","offers":{"data":[',
      offers,
      texts,
      feed,
      link: feed.encodedKey,
      more: () => '}',
      tail: ']}}',
    };
  },
});

/** `GET /api/v1/offers/top-converting`: hottest first, ranked within the type that was asked for. */
export const topConverting = heldPageEndpoint({
  variant: variantB,
  limit: hourly('B offers'),
  name: 'top-converting',
  read: readParametersB,
  key: keyOfParametersB,
  write(snapshot, feed, { type, take, skip }) {
    const ranked =
      type === undefined
        ? snapshot.ranked
        : snapshot.ranked.filter((offer) => offer.multireward === (type === 'multireward'));
    const head = `{"success":true,"version":"v1","total":${ranked.length},"window":${JSON.stringify(windowOf(snapshot.asOf))}`;
    return {
      head: `${head},"offers":[`,
      offers: ranked.slice(skip, skip + take).map(({ index }) => index),
      texts: snapshot.textsOf(openFormB, feed.links),
      feed,
      link: feed.encodedKey,
      more: (position, place) => `,"trend":"${snapshot.offers[position]?.trend}","rank":${skip + place + 1}}`,
      tail: ']}',
    };
  },
});
