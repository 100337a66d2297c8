import { followedBy, ofDays, type Dialect } from './dialect.ts';

const mostAtOnce = 300;

/**
 * CJ Affiliate: GraphQL, commissions by locking date, further ones since the last id; corrections are records of their
 * own, for a rejected one too. Arguments and fields: the schema that commissions.api.cj.com/query shows to everybody,
 * and developers.cj.com/graphql/reference/Commission%20Detail.
 */
export const cjDialect: Dialect = {
  secrets: (key) => ({ publisher_id: '1234567', token: key }),
  idOf: ({ id }) => id,
  isAuthorised: ({ headers }, key) => headers['authorization'] === `Bearer ${key}`,
  unauthorised: { status: 401, body: { message: 'Unauthorized' } },
  throttled: { status: 429, body: { message: 'API rate limit exceeded' } },
  // Links take the shopper id as `sid`: developers.cj.com/docs.
  followed: followedBy('sid'),
  conversions: {
    isFinal: true,
    isAsked: ({ path }) => path === '/query',
    page({ json }, conversions) {
      const { publishers, since, before, after } = json['variables'] as Record<string, unknown>;
      const [from, to] = [String(since), String(before)];
      if (!(Date.parse(to) - Date.parse(from) <= 31 * 86_400_000) || String(publishers) !== '1234567')
        return { status: 200, body: { data: null, errors: [{ message: 'Date range must not exceed 31 days' }] } };
      const asked = ofDays(conversions, from.slice(0, 10), to.slice(0, 10));
      const first = after === undefined ? 0 : asked.findIndex(({ id }) => id === after) + 1;
      const listed = asked.slice(first, first + mostAtOnce);
      const records = listed.flatMap(({ id, clickId, status, payout, at }) => {
        const commission = {
          commissionId: id,
          original: true,
          originalActionId: `a-${id}`,
          correctionReason: null,
          actionStatus: status === 'pending' ? 'new' : 'locked',
          validationStatus: status === 'rejected' ? 'DECLINED' : 'AUTOMATED',
          eventDate: at,
          lockingDate: at,
          pubCommissionAmountUsd: payout,
          shopperId: clickId,
        };
        const correction = {
          ...commission,
          commissionId: `${id}-1`,
          original: false,
          correctionReason: 'RETURNED_MERCHANDISE',
        };
        return status === 'rejected'
          ? [commission, { ...correction, pubCommissionAmountUsd: `-${payout}` }]
          : [commission];
      });
      return {
        status: 200,
        body: {
          data: {
            publisherCommissions: {
              count: records.length,
              maxCommissionId: listed.at(-1)?.id ?? null,
              payloadComplete: first + mostAtOnce >= asked.length,
              records,
            },
          },
        },
      };
    },
  },
};
