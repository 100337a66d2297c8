import { pageOf, type Dialect } from './dialect.ts';

/** A record as landing reads it. */
export type PlainOffer = Readonly<Record<string, unknown>> & { readonly external_id: string };

/** A network without quirks, whose records are what landing reads. It is for `sources.json` to declare. */
export const plainDialect: Dialect<PlainOffer> = {
  secrets: (key) => ({ key }),
  idOf: ({ external_id }) => external_id,
  firstPage: { parameter: 'page', value: '1' },
  isAuthorised: ({ headers }, key) => headers['x-key'] === key,
  unauthorised: { status: 401, body: { error: 'this key is not known here' } },
  throttled: { status: 429, body: { error: 'too many requests' }, headers: { 'retry-after': '1' } },
  page: ({ query }, offers) => ({
    status: 200,
    body: { total: offers.length, offers: pageOf(offers, Number(query.get('page')), Number(query.get('size'))) },
  }),
};
