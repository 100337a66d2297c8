import { expect, it } from 'vitest';
import { feedOfferSchema, feedSitesSchema } from '../../../src/pipeline/feed/feed-document.ts';
import { schemaVersion } from '../../../src/pipeline/snapshot/manifest.ts';

const ofVersion = 3;
const offerFields = `
  id source status titles descriptions payout image_name image_source level stars categories countries devices payment_term
  android_min_os ios_min_os preview_url tracking_type report_category formats daily_cap daily_click_cap multi_complete
  events created_at updated_at removed_at figures
`;
const siteFields = ['site_key', 'terms'];

// A service checks no line of a feed: it would answer without a field that the snapshot of an earlier release lacks.
it('snapshots have another version where the feed has other fields', () => {
  expect(
    [schemaVersion, Object.keys(feedOfferSchema.shape), Object.keys(feedSitesSchema.shape.sites.element.shape)],
    'raise schemaVersion in src/pipeline/snapshot/manifest.ts, then write the new version and fields here',
  ).toEqual([ofVersion, offerFields.trim().split(/\s+/), siteFields]);
});
