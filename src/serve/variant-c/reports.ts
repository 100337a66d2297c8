import { pageEndpoint } from '../endpoints/endpoint.ts';
import { hourly } from '../access/rate-limits.ts';
import { reportForm } from './report-text.ts';
import { variantC } from './variant.ts';

/** `GET /api/v1/reports`: all active offers of both types in one answer. It takes no parameters but the credentials. */
export const reports = pageEndpoint({
  variant: variantC,
  limit: hourly('C reports'),
  name: 'reports',
  read: () => undefined,
  key: () => '',
  write: (snapshot, feed) => ({
    head: '{"success":true,"offers":[',
    offers: snapshot.positionsOf(undefined),
    texts: snapshot.textsOf(reportForm, feed.links),
    feed,
    link: feed.encodedKey,
    tail: ']}',
  }),
});
