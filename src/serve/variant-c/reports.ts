import { hourly } from '../access/limits.ts';
import { pageEndpoint } from '../endpoints/endpoint.ts';
import { reportTemplate } from './report-template.ts';
import { variantC } from './variant.ts';

/** `GET /api/v1/reports`: all active offers of both types in one answer. It takes no parameters but the credentials. */
export const reports = pageEndpoint({
  variant: variantC,
  limit: hourly('C reports'),
  name: 'reports',
  read: () => undefined,
  key: () => '',
  page: (snapshot, feed) => ({
    head: '{"success":true,"offers":[',
    offers: snapshot.indexesOf(undefined),
    templates: snapshot.templatesOf(reportTemplate, feed.links),
    feed,
    link: feed.encodedKey,
    tail: ']}',
  }),
});
