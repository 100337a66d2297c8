import type { Site } from '../sites/sites.ts';
import type { LiveSites } from './live-sites.ts';
import type { Query } from './query.ts';
import { Refusal } from './refusal.ts';

/** Which site a query comes from. Throws `Refusal`. */
export type Identification = (sites: LiveSites, query: Query) => Site;

/** Variants B and C: by key and secret. */
export const bySecret: Identification = (sites, query) => sites.identify(query);

/** Variant A: by the key alone, after it was seen that the required parameters are there. */
export function byKey(...required: string[]): Identification {
  return (sites, query) => {
    const missing = required.filter((name) => query[name] === undefined);
    if (missing.length > 0) throw new Refusal('wrong_parameter', `${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} missing`);
    return sites.identifyByKey(query);
  };
}
