import { writtenAnswer } from '../endpoint.ts';
import type { Endpoint } from '../endpoint.ts';
import { byKey } from '../identification.ts';
import { readText } from '../parameters.ts';
import type { Query } from '../query.ts';
import { perMinuteAndClient } from '../rate-limits.ts';
import { Refusal } from '../refusal.ts';
import { clickText } from './click-text.ts';
import { variantA } from './variant.ts';

/** `GET /api/click-lookup`: one click of the site with what became of it, as of the snapshot. */
export const clickLookup: Endpoint = {
  variant: variantA,
  identify: byKey('site_key', 'click_id'),
  limit: perMinuteAndClient,
  async answer({ site, query, snapshot, feed }) {
    const clickId = readClickId(query);
    const found = await snapshot.clicks.find(clickId, site.site_key);
    // Whether another site has such a click is not told.
    if (found === undefined) throw new Refusal('nothing_found', 'this site has no click with this click_id; a new one can be looked up some minutes after it was made');
    return writtenAnswer(variantA, snapshot, clickText(found, feed.commission));
  },
};

function readClickId(query: Query): string {
  const text = readText(query, 'click_id') ?? '';
  if (!/^[\x20-\x7e]{1,128}$/.test(text)) throw new Refusal('wrong_parameter', 'click_id has 1 to 128 printable ASCII characters');
  return text;
}
