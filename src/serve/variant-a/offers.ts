import { percentEncoded } from '../../kit/text/percent-encoded.ts';
import { byKey } from '../../kit/http/site-registry.ts';
import { perMinuteAndClient } from '../access/limits.ts';
import { passingPage } from '../endpoints/endpoint.ts';
import type { Endpoint, RequestContext } from '../endpoints/endpoint.ts';
import { renderOnce } from '../pages/offer-page.ts';
import { linkPlaceholder, PageWithoutLinks } from '../pages/page-without-links.ts';
import { linkEndC, templateC } from '../variant-c/offer-template.ts';
import { parametersA } from './parameters.ts';
import { variantA } from './variant.ts';

/** `GET /api/offers`: the offers of one placement format, with links that carry the user. */
export const offersA: Endpoint = {
  variant: variantA,
  identify: byKey(parametersA.userId, parametersA.format),
  limit: perMinuteAndClient,
  async respond(context) {
    const { query, snapshot, feed } = context;
    // That both are there was checked with the site's key.
    const userId = parametersA.userId.read(query) ?? '';
    const format = parametersA.format.read(query) ?? 'offerwall';
    const page = await pageWithoutLinks(context, format);
    const head = JSON.stringify({
      success: true,
      site_key: feed.siteKey,
      user_id: userId,
      format,
      total: snapshot.index.ofFormat(format).length,
    });
    return passingPage(
      variantA,
      snapshot,
      page.linked(`${head.slice(0, -1)},`, linkEndC(feed.encodedKey, percentEncoded(userId))),
    );
  },
};

/** The same for all sites of the same terms. */
function pageWithoutLinks({ snapshot, feed, pages }: RequestContext, format: string): PageWithoutLinks | Promise<PageWithoutLinks> {
  const key = `offers-a ${snapshot.id} ${feed.terms} ${format}`;
  const known = () => {
    const page = pages.get(key);
    return page instanceof PageWithoutLinks ? page : undefined;
  };
  const page = {
    head: '"offers":[',
    offers: snapshot.index.ofFormat(format),
    templates: snapshot.templatesOf(templateC, feed.links),
    feed,
    link: linkPlaceholder,
    tail: ']}',
  };
  return known() ?? renderOnce(page, known, (body) => pages.keep(key, new PageWithoutLinks(body)));
}
