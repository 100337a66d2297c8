import { z } from 'zod';
import { ApiError } from '../../kit/http/errors.ts';
import { perMinuteAndClient } from '../access/limits.ts';
import { byKey, errorsByKey, operation, passingPage } from '../endpoints/operation.ts';
import { cacheControl } from '../http/caching.ts';
import { siteKey } from '../http/parameters.ts';
import { pageBody } from '../pages/prepared-page.ts';
import { clickLookupBody } from './bodies.ts';
import { clickText } from './click-text.ts';
import { clickIdParameter } from './parameters.ts';
import { variantA } from './variant.ts';

/** `GET /api/click-lookup`: one click of the site with what became of it, as of the snapshot. */
export const clickLookup = operation({
  path: '/a/api/click-lookup',
  operationId: 'lookUpClick',
  summary: 'A click of the site, and what became of it',
  variant: variantA,
  identify: byKey('click_id'),
  limit: perMinuteAndClient,
  querystring: z.object({ site_key: siteKey, click_id: clickIdParameter }),
  body: clickLookupBody,
  cacheControl: cacheControl.page,
  errorKinds: [...errorsByKey, 'nothing_found'],
  async respond({ site, parameters, snapshot, feed }) {
    const found = await snapshot.clicks.find(parameters.click_id, site.site_key);
    // The error does not reveal whether another site has such a click.
    if (found === undefined)
      throw new ApiError(
        'nothing_found',
        'this site has no click with this click_id; a new one can be looked up some minutes after it was made',
      );
    return passingPage(variantA, snapshot, pageBody(Buffer.from(clickText(found, feed.shared.terms))));
  },
});
