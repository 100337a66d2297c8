import type { LandingRow } from '../support/log-files.ts';
import { PipelineUnderTest } from '../support/pipeline-under-test.ts';

/** A moment that lies behind every clock these tests may run under. */
export const asOf = '2025-03-10T12:00:00Z';

export const secrets = ['a-secret-of-the-first-site', 'another-secret-of-the-second'];
export const sites = secrets.map((site_secret, index) => ({
  site_key: `site-${index + 1}`,
  site_secret,
  commission: 0.2,
}));

/** Two offers, some clicks and a conversion of the day of as-of, landed and not yet ingested. */
export async function smallData(settings: object = {}): Promise<PipelineUnderTest> {
  const pipeline = await PipelineUnderTest.create(new Date(asOf), { settings, sites });
  await pipeline.landOffers('net', [
    { id: 1, external_id: 'one', title: 'One', payout: '1.5' },
    { id: 2, external_id: 'two', title: 'Two', payout: '0.25' },
  ]);
  await pipeline.landLog('clicks', 'ndjson', clicks('first', 20, '2025-03-10T09:30:00Z'));
  await pipeline.landLog('conversions', 'csv', [
    { conversion_id: 'v1', click_id: 'first-1', kind: 'credit', occurred_at: '2025-03-10T10:00:00Z' },
  ]);
  return pipeline;
}

export function clicks(name: string, count: number, clickedAt: string): LandingRow[] {
  return Array.from({ length: count }, (_, index) => ({
    click_id: `${name}-${index}`,
    offer_id: 1 + (index % 2),
    site_key: 'site-1',
    user_id: `u${index}`,
    clicked_at: clickedAt,
  }));
}
