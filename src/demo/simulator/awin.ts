import { followedBy, ofDays, type Dialect } from './dialect.ts';

/**
 * Awin: a bare list of transactions, at most 31 days, in the zone that is asked for. Parameters and fields:
 * help.awin.com/apidocs/returns-a-list-of-transactions-for-a-given-publisher.
 */
export const awinDialect: Dialect = {
  secrets: (key) => ({ publisher_id: '45628', token: key }),
  idOf: ({ id }) => id,
  isAuthorised: ({ headers }, key) => headers['authorization'] === `Bearer ${key}`,
  unauthorised: { status: 401, body: { error: 'unauthorized', description: 'The access token is invalid' } },
  throttled: { status: 429, body: { error: 'too many requests' } },
  // Links take the click reference as `clickref`: help.awin.com/apidocs.
  followed: followedBy('clickref'),
  conversions: {
    isAsked: ({ path }) => path === '/publishers/45628/transactions/',
    page({ query }, conversions) {
      const [from, to] = [query.get('startDate') ?? '', query.get('endDate') ?? ''];
      if (!(Date.parse(to) - Date.parse(from) <= 31 * 86_400_000) || query.get('timezone') !== 'UTC')
        return { status: 400, body: { error: 'Date range exceeds 31 days' } };
      return {
        status: 200,
        body: ofDays(conversions, from.slice(0, 10), to.slice(0, 10)).map(({ id, clickId, status, payout, at }) => ({
          id,
          advertiserId: 7052,
          commissionStatus: status === 'rejected' ? 'declined' : status,
          commissionAmount: { amount: Number(payout), currency: 'USD' },
          clickRefs: clickId === null ? null : { clickRef: clickId },
          transactionDate: at.replace('Z', ''),
          validationDate: null,
          type: 'Commission group transaction',
          declineReason: status === 'rejected' ? 'order returned' : null,
          amended: false,
        })),
      };
    },
  },
};
