import { rm, writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { rebuild } from '../../../src/pipeline/doctor/rebuild.ts';
import { realEffects } from '../../../src/kit/files/effects.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { PipelineUnderTest } from '../../support/pipeline-under-test.ts';
import { slow } from '../../support/slow.ts';

const asOf = '2025-03-10T12:00:00Z';
/** Refused before anything is sent. */
const postback = { url: 'http://127.0.0.1:9/postback' };
const site = (site_key: string, more: object = {}) => ({
  site_key,
  site_secret: `a-secret-of-${site_key}`,
  commission: 0.2,
  ...more,
});
const click = (click_id: string, site_key: string) => ({
  click_id,
  offer_id: 1,
  site_key,
  user_id: 'u',
  clicked_at: '2025-03-10T09:00:00Z',
});
const event = (click_id: string, kind: string, at: string) => ({
  conversion_id: `v-${click_id}`,
  click_id,
  kind,
  occurred_at: `2025-03-10T${at}:00Z`,
});

it('a rebuilt warehouse sends publishers nothing again, and nothing it must not send', slow, async () => {
  await using pipeline = await PipelineUnderTest.create(new Date('2025-03-20T00:00:00Z'), {
    sites: [site('active', { postback }), site('silent')],
  });
  const { data } = pipeline;
  await pipeline.landOffers('net', [{ id: 1, external_id: 'one', title: 'One', payout: '1.5' }]);
  await pipeline.landLog('clicks', 'ndjson', [click('a', 'active'), click('b', 'active'), click('c', 'silent')]);
  await pipeline.landLog('conversions', 'ndjson', [
    event('a', 'credit', '10:00'),
    event('b', 'credit', '10:10'),
    event('b', 'chargeback', '10:20'),
    event('c', 'credit', '10:30'),
    event('waits', 'credit', '10:40'),
  ]);
  await pipeline.refresh(asOf);
  const postbacks = () =>
    pipeline.ask<{ conversion_id: string; kind: string }>(
      'SELECT webhook_id, conversion_id, kind, reward, enqueued_at FROM postbacks ORDER BY occurred_at',
    );
  const sent = await postbacks();
  expect(sent.map(({ conversion_id, kind }) => `${conversion_id} ${kind}`)).toEqual([
    'v-a credit',
    'v-b credit',
    'v-b chargeback',
  ]);

  // An address given later, and another commission, which change nothing about the past.
  await writeFile(
    data.sitesFile,
    JSON.stringify({ sites: [site('active', { postback, commission: 0.5 }), site('silent', { postback })] }),
  );
  await rebuild(
    { data, settings: { duckdb: {} }, logger: createLogger({ write: () => true }, 'silent'), effects: realEffects },
    { fromLanding: true, withoutMissing: false },
  );
  await pipeline.refresh('2025-03-10T12:30:00Z');
  expect(await postbacks()).toEqual(sent);
  await rm(data.warehouse, { recursive: true });
  await pipeline.refresh('2025-03-10T12:40:00Z');
  expect(await postbacks()).toEqual(sent);
  expect(await pipeline.ask(`SELECT status FROM conversions ORDER BY conversion_id`)).toEqual(
    ['credited', 'charged_back', 'credited', 'unattributed'].map((status) => ({ status })),
  );

  // A conversion that waited for its click still makes its postback.
  await pipeline.landLog('clicks', 'ndjson', [click('waits', 'active')]);
  await pipeline.refresh('2025-03-10T12:50:00Z');
  expect((await postbacks()).map(({ conversion_id }) => conversion_id)).toEqual(['v-a', 'v-b', 'v-b', 'v-waits']);
});
