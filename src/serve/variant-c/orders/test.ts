import { ApiError } from '../../../kit/http/errors.ts';
import { operation } from '../../endpoints/operation.ts';
import { credentials } from '../../http/parameters.ts';
import { noStoreResponse } from '../../http/response.ts';
import { variantC } from '../variant.ts';
import { testBody } from './bodies.ts';
import { ofOrders } from './order.ts';

/** `POST /api/v1/postbacks/test`: a signed postback of reward 0 to the site's address, now, with its outcome. */
export const testPostback = operation({
  path: '/c/api/v1/postbacks/test',
  operationId: 'testPostback',
  summary: 'Sends a signed postback of reward 0 to the site’s address now, and says what it answered',
  ...ofOrders,
  querystring: credentials,
  body: testBody,
  async respond({ site, snapshot, orders }) {
    if (site.postback === undefined)
      throw new ApiError('nothing_found', 'this site has no postback address; ask us to enter one');
    const { host, status, error, durationMilliseconds, postback } = await orders.test(site);
    const document = {
      success: true,
      version: 'v1',
      postback_id: postback.webhookId,
      click_id: postback.clickId,
      delivered: error === null,
      host,
      status,
      error,
      duration_ms: Math.round(durationMilliseconds),
      message:
        error === null
          ? 'your address took it: check that your side found its signature right'
          : 'your address did not take it with a 2xx status: nothing was tried again, so send another test when it is mended',
    };
    return noStoreResponse(200, document, snapshot, variantC);
  },
});
