import type { Site } from '../../sites/sites.ts';
import type { SiteRegistry } from './site-registry.ts';
import { required, text } from '../http/parameters.ts';
import type { DescribedParameter } from '../http/parameters.ts';
import type { Query } from '../http/query.ts';
import { ApiError } from '../http/errors.ts';

export const siteKey: DescribedParameter = required(text('site_key', 'Public identifier of the site'));
export const siteSecret: DescribedParameter = required(text('site_secret', 'Private value of the site'));

/** Which site a query comes from. Throws `ApiError`. */
export type Identification = (sites: SiteRegistry, query: Query) => Site;

/** Variants B and C: by key and secret. */
export const bySecret: Identification = (sites, query) => sites.identify(query);

/** Variant A: by the key alone, after it was seen that it is there, and what else is required. */
export function byKey(...others: DescribedParameter[]): Identification {
  const names = [siteKey, ...others].map(({ name }) => name);
  return (sites, query) => {
    const missing = names.filter((name) => query[name] === undefined);
    if (missing.length > 0)
      throw new ApiError('wrong_parameter', `${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} missing`);
    return sites.identifyByKey(query);
  };
}
