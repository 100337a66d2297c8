import { passingAnswer } from '../http/response.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { bySecret } from '../access/identification.ts';
import { withOffset } from '../offers/moments.ts';
import { hourly, untouched } from '../access/rate-limits.ts';
import { variantC } from './variant.ts';

/** `GET /api/v1/status`: the service as one site sees it, at this moment. */
export const status: Endpoint = {
  variant: variantC,
  identify: bySecret,
  // Shows what is left for the offers.
  limit: untouched(hourly('C offers')),
  answer({ site, snapshot, now }) {
    const data = {
      offers_available: snapshot.positionsOf('offer').length,
      multireward_available: snapshot.positionsOf('multireward').length,
      site_status: site.status,
      rate_limit_per_hour: site.rate_limit_per_hour,
    };
    const timestamp = withOffset(new Date(now).toISOString());
    return passingAnswer(
      200,
      { success: true, status: 'operational', version: '1.0', data, timestamp },
      snapshot,
      variantC,
    );
  },
};
