import { writeFile } from 'node:fs/promises';
import { expect, it, onTestFinished } from 'vitest';
import { Metrics } from '../../../src/kit/metrics/metrics.ts';
import { measurePulls } from '../../../src/serve/server/pull-metrics.ts';
import { PullLedger } from '../../../src/sources/pull-ledger.ts';
import { temporaryData } from '../../support/published-snapshot.ts';

it('/metrics tells how old the last whole pull of each source is', async () => {
  const { data, remove } = await temporaryData();
  onTestFinished(remove);
  const now = Date.parse('2026-11-20T10:01:30Z');
  const metrics = new Metrics();
  measurePulls(metrics, data, () => now);
  expect(await metrics.text()).not.toContain('{source=');
  const source = (name: string) => ({
    source: name,
    connector: 'http',
    base_url: 'https://x.example',
    offers: { fields: { external_id: 'id' } },
  });
  await writeFile(data.sourcesFile, JSON.stringify({ sources: [source('north'), source('south')] }));
  const ledger = new PullLedger(data);
  ledger.end(ledger.begin('north', '2026-11-20T09:59:00Z'), '2026-11-20T10:00:00Z', { status: 'done' });
  ledger.end(ledger.begin('north', '2026-11-20T10:01:00Z'), '2026-11-20T10:01:00Z', { status: 'failed' });
  const text = await metrics.text();
  expect(text).toContain('offerline_source_last_whole_pull_age_seconds{source="north"} 90\n');
  expect(text).toContain('offerline_source_last_whole_pull_age_seconds{source="south"} +Inf\n');
  ledger[Symbol.dispose]();
  await writeFile(data.pullLedgerFile, 'no ledger'.repeat(1000));
  expect(await metrics.text()).toContain('offerline_source_last_whole_pull_age_seconds{source="north"} +Inf\n');
  await writeFile(data.sourcesFile, 'broken');
  expect(await metrics.text()).not.toContain('{source=');
});
