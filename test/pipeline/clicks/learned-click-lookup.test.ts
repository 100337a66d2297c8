import { readdir, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { maintenance } from '../../../pipelines/maintenance.ts';
import { ClickFileIndex } from '../../../src/pipeline/clicks/click-file-index.ts';
import { clickFilesOf } from '../../../src/pipeline/clicks/click-files.ts';
import { SnapshotClicks } from '../../../src/pipeline/clicks/snapshot-clicks.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { noProgress } from '../../../src/kit/logging/progress.ts';
import { PipelineUnderTest } from '../../support/pipeline-under-test.ts';

const asOf = '2026-11-20T12:00:00Z';
const days = ['14', '15', '16', '17', '18', '19'];
// An address that is refused before anything is sent.
const site = {
  site_key: 'wall',
  site_secret: 'a-long-enough-secret',
  commission: 0.1,
  reward_rate: 100,
  postback: { url: 'http://127.0.0.1:1/told', method: 'GET' },
};
const silent = { logger: createLogger({ write: () => true }, 'silent'), progress: noProgress };

/** Shared by all tests, the last of which change what it publishes: making it takes longer than all of them. */
let pipeline: PipelineUnderTest;

/**
 * Two refreshes, each with clicks of all days: one of them by its offer's name, half of them of another site, and a
 * conversion of each day's first click.
 */
beforeAll(async () => {
  pipeline = await PipelineUnderTest.create(new Date(asOf), {
    sites: [site, { ...site, site_key: 'other', postback: undefined }],
  });
  await pipeline.landOffers('net', [{ id: 7, external_id: 'e', title: 'Game', description: '', payout: '2.5' }]);
  for (const round of [0, 1]) {
    await pipeline.landLog(
      'clicks',
      'ndjson',
      days.flatMap((day) =>
        ['wall', 'other'].map((site_key) => ({
          click_id: `${site_key}-${day}-${round}`,
          source: 'net',
          external_id: 'e',
          site_key,
          user_id: 'u',
          clicked_at: `2026-11-${day}T10:00:00Z`,
        })),
      ),
    );
    if (round === 0)
      await pipeline.landLog(
        'conversions',
        'ndjson',
        days.map((day) => ({
          conversion_id: `v-${day}`,
          click_id: `wall-${day}-0`,
          kind: 'credit',
          occurred_at: `2026-11-${day}T11:00:00Z`,
        })),
      );
    await pipeline.refresh(`2026-11-20T1${1 + round}:00:00Z`);
  }
});

afterAll(() => pipeline[Symbol.asyncDispose]());

async function openCurrent(index: ClickFileIndex): Promise<{ clicks: SnapshotClicks; folder: string }> {
  const folder = await realpath(pipeline.data.current);
  const clicks = new SnapshotClicks(folder, index);
  onTestFinished(() => clicks.retire());
  return { clicks, folder };
}

/** As the first lookup has it done. */
async function learnAll(index: ClickFileIndex, folder: string): Promise<void> {
  await index.learn(Object.values(await clickFilesOf(folder)).flat(), new AbortController().signal);
}

async function expectAllFound(clicks: SnapshotClicks): Promise<void> {
  for (const day of days) {
    expect(await clicks.find(`wall-${day}-0`, 'wall')).toMatchObject({
      click: { click_id: `wall-${day}-0`, offer_id: 7, offer_title: 'Game', site_key: 'wall', user_id: 'u' },
      conversions: [{ conversion_id: `v-${day}`, status: 'credited', payout: '2.500000' }],
      postbacks: [{ event: 'credit', reward: '225.0000', attempts: expect.any(Number) }],
    });
    expect(await clicks.find(`wall-${day}-1`, 'wall')).toMatchObject({
      click: { click_id: `wall-${day}-1` },
      conversions: [],
      postbacks: [],
    });
    expect(await clicks.find(`other-${day}-1`, 'other')).toMatchObject({ click: { site_key: 'other' } });
    expect(await clicks.find(`other-${day}-1`, 'wall')).toBeUndefined();
    expect(await clicks.find(`wall-${day}-2`, 'wall')).toBeUndefined();
  }
}

test('every click is found, with what became of it, before and after its file is known', async () => {
  const index = new ClickFileIndex();
  const { clicks, folder } = await openCurrent(index);
  await expectAllFound(clicks);
  await learnAll(index, folder);
  await expectAllFound(clicks);
});

test('the first lookup has the files learned', async () => {
  const index = new ClickFileIndex();
  const { clicks } = await openCurrent(index);
  expect(index.bytes).toBe(0);
  await clicks.find('wall-14-0', 'wall');
  await vi.waitFor(() => expect(index.bytes).toBeGreaterThan(0));
});

test('an index without room finds all the same', async () => {
  const index = new ClickFileIndex(0);
  const { clicks, folder } = await openCurrent(index);
  await learnAll(index, folder);
  await expectAllFound(clicks);
  expect(index.bytes).toBe(0);
});

test('clicks are found in the next snapshot, whose days were compacted meanwhile, and still in the one before', async () => {
  const index = new ClickFileIndex();
  const before = await openCurrent(index);
  await learnAll(index, before.folder);
  await maintenance({ data: pipeline.data, terminal: silent, asOf });
  await pipeline.landLog('clicks', 'ndjson', [
    { click_id: 'late', offer_id: 7, site_key: 'wall', user_id: 'u', clicked_at: '2026-11-14T12:00:00Z' },
  ]);
  await pipeline.refresh('2026-11-20T12:30:00Z');
  const after = await openCurrent(index);
  const names = await readdir(join(after.folder, 'events', 'clicks'));
  expect(names.filter((name) => name.endsWith('-sorted.parquet')).length).toBeGreaterThan(0);
  await expectAllFound(after.clicks);
  await learnAll(index, after.folder);
  await expectAllFound(after.clicks);
  await expectAllFound(before.clicks);
  expect(await after.clicks.find('late', 'wall')).toMatchObject({ click: { click_id: 'late' } });
  expect(await before.clicks.find('late', 'wall')).toBeUndefined();
});

test('a click whose file is gone is not said to be missing, and others are found', async () => {
  const index = new ClickFileIndex();
  const { clicks, folder } = await openCurrent(index);
  await learnAll(index, folder);
  const gone = (await readdir(join(folder, 'events', 'clicks'))).filter((name) => name.startsWith('2026-11-14'));
  for (const name of gone) await rm(join(folder, 'events', 'clicks', name));
  await expect(clicks.find('wall-14-0', 'wall')).rejects.toThrow('2026-11-14');
  expect(await clicks.find('wall-15-0', 'wall')).toMatchObject({ click: { click_id: 'wall-15-0' } });
});
