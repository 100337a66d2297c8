import { readdir, realpath, rm, truncate, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { maintenance } from '../../../pipelines/maintenance.ts';
import { clickFilesOf, eventFilesOfClick } from '../../../src/pipeline/clicks/click-files.ts';
import { verifySnapshot } from '../../../src/pipeline/snapshot/verify.ts';
import { SnapshotClicks } from '../../../src/pipeline/clicks/snapshot-clicks.ts';
import { SnapshotConnections } from '../../../src/pipeline/clicks/snapshot-connections.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { noProgress } from '../../../src/kit/logging/progress.ts';
import { PipelineUnderTest } from '../../support/pipeline-under-test.ts';
import { slow } from '../../support/slow.ts';

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

async function openCurrent(): Promise<{ clicks: SnapshotClicks; folder: string }> {
  const folder = await realpath(pipeline.data.current);
  const connections = new SnapshotConnections(folder);
  onTestFinished(() => connections.retire());
  return { clicks: new SnapshotClicks(connections), folder };
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

test('every click is found, with what became of it', async () => {
  const { clicks } = await openCurrent();
  await expectAllFound(clicks);
});

test("only files of the click's day are asked, none for a click that there is not", async () => {
  const { folder } = await openCurrent();
  const files = await clickFilesOf(folder);
  expect(files.events.length).toBeGreaterThanOrEqual(2 * days.length);
  const names = eventFilesOfClick(files, 'wall-16-0').map((path) => basename(path).slice(0, 10));
  expect(new Set(names)).toEqual(new Set(['2026-11-16']));
  expect(eventFilesOfClick(files, 'nowhere')).toEqual([]);
});

test('all files are asked where a key run is damaged', async () => {
  const { folder } = await openCurrent();
  const files = await clickFilesOf(folder);
  const damaged = join(pipeline.data.root, 'damaged.keys');
  await writeFile(damaged, 'no key run');
  expect(eventFilesOfClick({ ...files, keys: [damaged] }, 'wall-16-0')).toEqual(files.events);
});

test('keys that are gone from the warehouse are written again by the next publish', slow, async () => {
  await rm(pipeline.data.keys, { recursive: true });
  await pipeline.refresh('2026-11-20T12:15:00Z');
  const { clicks, folder } = await openCurrent();
  expect((await clickFilesOf(folder)).keys).toHaveLength(1);
  await expectAllFound(clicks);
});

test('damaged keys of a snapshot are written again by a publish of the same content', slow, async () => {
  const [keys = ''] = (await clickFilesOf(await realpath(pipeline.data.current))).keys;
  await truncate(keys, 5_000);
  await pipeline.refresh('2026-11-20T12:15:00Z');
  const { clicks, folder } = await openCurrent();
  await verifySnapshot(folder);
  await expectAllFound(clicks);
});

test('clicks are found in a snapshot after compaction, and in the one before it', slow, async () => {
  const before = await openCurrent();
  await maintenance({ data: pipeline.data, terminal: silent, asOf });
  await pipeline.landLog('clicks', 'ndjson', [
    { click_id: 'late', offer_id: 7, site_key: 'wall', user_id: 'u', clicked_at: '2026-11-14T12:00:00Z' },
  ]);
  await pipeline.refresh('2026-11-20T12:30:00Z');
  const after = await openCurrent();
  const names = await readdir(join(after.folder, 'events', 'clicks'));
  expect(names.filter((name) => name.endsWith('-sorted.parquet')).length).toBeGreaterThan(0);
  await expectAllFound(after.clicks);
  await expectAllFound(before.clicks);
  expect(await after.clicks.find('late', 'wall')).toMatchObject({ click: { click_id: 'late' } });
  expect(await before.clicks.find('late', 'wall')).toBeUndefined();
});

test('a click whose file is gone is not said to be missing, and others are found', async () => {
  const { clicks, folder } = await openCurrent();
  const gone = (await readdir(join(folder, 'events', 'clicks'))).filter((name) => name.startsWith('2026-11-14'));
  for (const name of gone) await rm(join(folder, 'events', 'clicks', name));
  await expect(clicks.find('wall-14-0', 'wall')).rejects.toThrow('2026-11-14');
  expect(await clicks.find('wall-15-0', 'wall')).toMatchObject({ click: { click_id: 'wall-15-0' } });
});
