import { followedBy, ofDays, pageOf, type Dialect } from './dialect.ts';

const pageSize = 300;

/**
 * impact.com: actions by locking date, numbers as text, the next page's address without the host. Parameters and
 * fields: the vendor's OpenAPI of the partner actions, github.com/api-evangelist/impact. `@nextpageuri` and `@total`
 * are those of public clients. The locking date is the simulated conversion's own.
 */
export const impactDialect: Dialect = {
  secrets: (key) => ({ account_sid: 'IRx1', auth_token: key }),
  idOf: ({ id }) => id,
  isAuthorised: ({ headers }, key) =>
    headers['authorization'] === `Basic ${Buffer.from(`IRx1:${key}`).toString('base64')}`,
  unauthorised: { status: 401, body: { Status: 'ERROR', Message: 'Access Denied' } },
  throttled: { status: 429, body: { Status: 'ERROR' }, headers: { 'x-ratelimit-remaining': '0' } },
  // Links of programs take sub ids as parameters: help.impact.com, and the plugin of a public client.
  followed: followedBy('subId1'),
  conversions: {
    isAsked: ({ path }) => path === '/Mediapartners/IRx1/Actions',
    page({ path, query }, conversions) {
      const [from, to] = [query.get('LockingDateStart') ?? '', query.get('LockingDateEnd') ?? ''];
      if (!(Date.parse(to) - Date.parse(from) <= 45 * 86_400_000))
        return { status: 400, body: { Status: 'ERROR', Message: 'The date range cannot exceed 45 days' } };
      const page = Number(query.get('Page') ?? 1);
      const asked = ofDays(conversions, from.slice(0, 10), to.slice(0, 10));
      const next = new URLSearchParams([...query].filter(([name]) => name !== 'Page'));
      next.set('Page', String(page + 1));
      return {
        status: 200,
        body: {
          '@page': String(page),
          '@total': String(asked.length),
          '@nextpageuri': page * pageSize < asked.length ? `${path}?${next.toString()}` : '',
          Actions: pageOf(asked, page, pageSize).map(({ id, clickId, status, payout, at }) => ({
            Id: `1000.${id}`,
            CampaignId: '1000',
            State: status === 'rejected' ? 'REVERSED' : status.toUpperCase(),
            Payout: payout,
            Currency: 'USD',
            EventDate: at.replace('Z', '+00:00'),
            LockingDate: at.replace('Z', '+00:00'),
            SubId1: clickId ?? '',
          })),
        },
      };
    },
  },
};
