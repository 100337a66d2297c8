import { hourly } from '../access/limits.ts';
import { errorsBySecret, pageOperation } from '../endpoints/operation.ts';
import { credentials } from '../http/parameters.ts';
import { reportsBody } from './bodies.ts';
import { reportTemplate } from './report-template.ts';
import { variantC } from './variant.ts';

/**
 * `GET /api/v1/reports`: all active offers of both types that the site may have, in one answer. It takes no parameters
 * but the credentials.
 */
export const reports = pageOperation({
  path: '/c/api/v1/reports',
  operationId: 'listReports',
  summary: 'All active offers with their figures',
  variant: variantC,
  limit: hourly('C reports'),
  querystring: credentials,
  body: reportsBody,
  errorKinds: errorsBySecret,
  page: (snapshot, feed) => ({
    head: '{"success":true,"offers":[',
    offers: feed.shared.ofType(undefined),
    templates: snapshot.templatesOf(reportTemplate, feed.links),
    feed,
    link: feed.encodedKey,
    tail: ']}',
  }),
});
