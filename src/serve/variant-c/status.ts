import { noStoreResponse } from '../http/response.ts';
import { bySecret, errorsBySecret, operation } from '../endpoints/operation.ts';
import { cacheControl } from '../http/caching.ts';
import { credentials } from '../http/parameters.ts';
import { statusBody } from './bodies.ts';
import { withOffset } from '../../kit/time/iso-moment.ts';
import { hourly, untouched } from '../access/limits.ts';
import { variantC } from './variant.ts';

/** `GET /api/v1/status`: the service as one site sees it, at this moment. */
export const status = operation({
  path: '/c/api/v1/status',
  operationId: 'getStatus',
  summary: 'Health check; never limited',
  variant: variantC,
  identify: bySecret,
  // Shows what is left for the offers.
  limit: untouched(hourly('C offers')),
  querystring: credentials,
  body: statusBody,
  cacheControl: cacheControl.noStore,
  errorKinds: errorsBySecret,
  respond({ site, snapshot, feed, now }) {
    const data = {
      offers_available: feed.shared.count('offer'),
      multireward_available: feed.shared.count('multireward'),
      site_status: site.status,
      rate_limit_per_hour: site.rate_limit_per_hour,
    };
    const timestamp = withOffset(new Date(now).toISOString());
    return noStoreResponse(
      200,
      { success: true, status: 'operational', version: '1.0', data, timestamp },
      snapshot,
      variantC,
    );
  },
});
