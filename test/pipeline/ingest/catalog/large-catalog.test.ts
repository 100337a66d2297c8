import { expect, it } from 'vitest';
import { click, LogLanding } from '../../../support/log-landing.ts';
import { slow } from '../../../support/slow.ts';

/** More than a function can be called with. */
const offers = 150_000;

it('an export that changes 150,000 known offers is loaded, with the clicks beside it', slow, async () => {
  await using landing = await LogLanding.create();
  const catalog = (payout: string) =>
    Array.from({ length: offers }, (_, index) => ({ external_id: `x${index}`, title: `Offer ${index}`, payout }));
  await landing.putAt('offers/net/1.ndjson', catalog('1'), '2026-11-18T09:00:00Z');
  await landing.ingest({ asOf: '2026-11-18T10:00:00Z' });
  await landing.putAt('offers/net/2.ndjson', catalog('2'), '2026-11-18T11:00:00Z');
  await landing.put('clicks/a.ndjson', [click('c1', { offer_id: 1_000_001 })]);
  await landing.ingest({ asOf: '2026-11-18T12:00:00Z' });
  expect(await landing.query('SELECT version, count(*)::INTEGER AS offers FROM offer_versions GROUP BY ALL')).toEqual(
    [1, 2].map((version) => ({ version, offers })),
  );
  expect(await landing.ids('clicks')).toEqual(['c1']);
});
