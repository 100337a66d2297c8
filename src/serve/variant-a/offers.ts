import { z } from 'zod';
import { percentEncoded } from '../../kit/text/percent-encoded.ts';
import { perMinuteAndClient } from '../access/limits.ts';
import { byKey, errorsByKey, operation, passingPage } from '../endpoints/operation.ts';
import type { RequestContext } from '../endpoints/operation.ts';
import { cacheControl } from '../http/caching.ts';
import { siteKey } from '../http/parameters.ts';
import { renderOnce } from '../pages/offer-page.ts';
import { linkPlaceholder, PageWithoutLinks } from '../pages/page-without-links.ts';
import { linkEndC, templateC } from '../variant-c/offer-template.ts';
import { offersBodyA } from './bodies.ts';
import { formatParameter, userIdParameter } from './parameters.ts';
import { variantA } from './variant.ts';

/** `GET /api/offers`: the offers of one placement format, with links that carry the user. */
export const offersA = operation({
  path: '/a/api/offers',
  operationId: 'listOffersA',
  summary: 'Offers of one placement format for a user',
  variant: variantA,
  identify: byKey('user_id', 'format'),
  limit: perMinuteAndClient,
  querystring: z.object({ site_key: siteKey, user_id: userIdParameter, format: formatParameter }),
  body: offersBodyA,
  cacheControl: cacheControl.page,
  errorKinds: errorsByKey,
  async respond(context) {
    const { parameters, snapshot, feed } = context;
    const page = await pageWithoutLinks(context, parameters.format);
    const head = JSON.stringify({
      success: true,
      site_key: feed.siteKey,
      user_id: parameters.user_id,
      format: parameters.format,
      total: feed.shared.ofFormat(parameters.format).length,
    });
    return passingPage(
      variantA,
      snapshot,
      page.linked(`${head.slice(0, -1)},`, linkEndC(feed.encodedKey, percentEncoded(parameters.user_id))),
    );
  },
});

/** Returns the page before links are added, which all sites with the same terms share. */
function pageWithoutLinks(
  { snapshot, feed, pages }: Pick<RequestContext<unknown>, 'snapshot' | 'feed' | 'pages'>,
  format: string,
): PageWithoutLinks | Promise<PageWithoutLinks> {
  const key = `offers-a ${feed.shared.number} ${format}`;
  const known = () => {
    const page = pages.get(key);
    return page instanceof PageWithoutLinks ? page : undefined;
  };
  const page = {
    head: '"offers":[',
    offers: feed.shared.ofFormat(format),
    templates: snapshot.templatesOf(templateC, feed.links),
    feed,
    link: linkPlaceholder,
    tail: ']}',
  };
  return known() ?? renderOnce(page, known, (body) => pages.keep(key, new PageWithoutLinks(body)));
}
