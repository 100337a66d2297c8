import { passingPage } from '../endpoints/endpoint.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { byKey } from '../../kit/http/site-registry.ts';
import { pageBody } from '../pages/prepared-page.ts';
import { perMinuteAndClient } from '../access/limits.ts';
import { ApiError } from '../../kit/http/errors.ts';
import { clickText } from './click-text.ts';
import { parametersA } from './parameters.ts';
import { variantA } from './variant.ts';

/** `GET /api/click-lookup`: one click of the site with what became of it, as of the snapshot. */
export const clickLookup: Endpoint = {
  variant: variantA,
  identify: byKey(parametersA.clickId),
  limit: perMinuteAndClient,
  async respond({ site, query, snapshot, feed }) {
    // That it is there was checked with the site's key.
    const clickId = parametersA.clickId.read(query) ?? '';
    const found = await snapshot.clicks.find(clickId, site.site_key);
    // Whether another site has such a click is not told.
    if (found === undefined)
      throw new ApiError(
        'nothing_found',
        'this site has no click with this click_id; a new one can be looked up some minutes after it was made',
      );
    return passingPage(variantA, snapshot, pageBody(Buffer.from(clickText(found, feed.commission))));
  },
};
