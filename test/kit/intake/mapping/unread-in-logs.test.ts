import { expect, it } from 'vitest';
import { unread } from '../../../../src/kit/intake/mapping/convert-value.ts';
import { click, conversion, LogLanding } from '../../../support/log-landing.ts';

it('a value that a mapping could not read is rejected by the code of its field, in every log', async () => {
  await using landing = await LogLanding.create();
  const clicks = ['click_id', 'offer_id', 'site_key', 'user_id', 'clicked_at'];
  const conversions = ['conversion_id', 'click_id', 'kind', 'occurred_at', 'event_id', 'payout'];
  const given = { '1794996000': unread('1794996000'), '1.234': unread('1.234') };
  for (const [text, value] of Object.entries(given)) {
    const lines = (names: string[], line: (id: string) => object) =>
      names.map((name) => ({ ...line(`${name}${text}`), [name]: value }));
    await landing.put(`clicks/${text}.ndjson`, lines(clicks, click));
    await landing.put(`conversions/${text}.ndjson`, lines(conversions, conversion));
  }
  await landing.ingest({ wallClock: '2026-11-20T00:00:00Z' });
  const reasons = [...clicks, ...conversions].map((name) => `bad_${name}`);
  const rejects = await landing.rejects();
  const rejectedFor = rejects.map((reject) => reject.slice(reject.indexOf(' ') + 1));
  expect(rejectedFor.toSorted()).toEqual([...reasons, ...reasons].toSorted());
});
