import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { findSnapshot } from '../../../src/pipeline/analysis/kept-snapshots.ts';
import { withSnapshotDatabase } from '../../../src/pipeline/analysis/snapshot-database.ts';
import type { SnapshotDiff } from '../../../src/pipeline/analysis/diff.ts';
import { schemaVersion } from '../../../src/pipeline/snapshot/manifest.ts';
import { packageVersion } from '../../../src/kit/files/package-files.ts';
import { readSettings } from '../../../src/kit/config/settings.ts';
import { RequestLimits } from '../../../src/serve/access/limits.ts';
import { createService, type Service } from '../../../src/serve/service.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { clicks, sites } from '../../e2e/small-data.ts';
import { command, usageErrorOf } from '../../support/commands.ts';
import { PipelineUnderTest } from '../../support/pipeline-under-test.ts';
import { flipBit } from '../../support/published-snapshot.ts';
import { slow } from '../../support/slow.ts';

const [firstAsOf, secondAsOf] = ['2025-03-10T12:00:00Z', '2025-03-10T13:00:00Z'];

let pipeline: PipelineUnderTest;
let root: string;
let first: string;
let second: string;

const milestones = (...payouts: string[]) =>
  payouts.map((payout, index) => ({ event_id: `level-${index + 1}`, description: `Level ${index + 1}`, payout }));

beforeAll(async () => {
  pipeline = await PipelineUnderTest.create(new Date(secondAsOf), {
    sites,
    settings: { snapshots_kept: 2, snapshots_kept_hours: 0 },
  });
  root = pipeline.data.root;
  await pipeline.landOffers('net', [
    { id: 1, external_id: 'a', title: 'Stays', payout: '1' },
    { id: 2, external_id: 'b', title: 'Goes', payout: '2' },
    { id: 3, external_id: 'c', title: 'Costs more', payout: '3' },
    { id: 4, external_id: 'd', title: 'Has levels', events: milestones('1', '2') },
    { id: 5, external_id: 'e', title: 'Old title', payout: '5' },
    { id: 6, external_id: 'f', title: 'Pauses', payout: '6' },
  ]);
  await pipeline.landLog('clicks', 'ndjson', clicks('first', 4, '2025-03-10T09:30:00Z'));
  await pipeline.refresh(firstAsOf);
  first = (await pipeline.snapshots()).current;

  await pipeline.landOffers('net', [
    { id: 1, external_id: 'a', title: 'Stays', payout: '1' },
    { id: 3, external_id: 'c', title: 'Costs more', payout: '3.5' },
    { id: 4, external_id: 'd', title: 'Has levels', payout: '3', events: milestones('1.25', '1.75') },
    { id: 5, external_id: 'e', title: 'New title', payout: '5' },
    { id: 6, external_id: 'f', title: 'Pauses', payout: '6', status: 'paused' },
    { id: 7, external_id: 'g', title: 'Comes', payout: '7' },
  ]);
  await pipeline.landLog('clicks', 'ndjson', clicks('second', 1, '2025-03-10T12:30:00Z'));
  await pipeline.landLog('conversions', 'ndjson', [
    { conversion_id: 'v1', click_id: 'first-0', kind: 'credit', occurred_at: '2025-03-10T12:31:00Z' },
  ]);
  await writeFile(
    pipeline.data.sitesFile,
    JSON.stringify({
      sites: sites.map((site, index) =>
        index === 0
          ? { ...site, commission: 0.3, commissions: [{ source: 'net', commission: 0.35 }] }
          : { ...site, offers: { allow: [{ format: 'offerwall' }], deny: [{ offer: 5 }] } },
      ),
    }),
  );
  await pipeline.refresh(secondAsOf);
  second = (await pipeline.snapshots()).current;
});
afterAll(() => pipeline[Symbol.asyncDispose]());

it('lists the kept snapshots, newest first', async () => {
  const { snapshots } = JSON.parse(await command(root, 'snapshots', '--json')) as { snapshots: object[] };
  expect(snapshots).toMatchObject([
    { snapshot_id: second, as_of: secondAsOf, current: true, row_counts: { clicks: 5 } },
    { snapshot_id: first, as_of: firstAsOf, current: false, row_counts: { clicks: 4 } },
  ]);
  expect(await command(root, 'snapshots')).toContain(first);
});

it('each says by itself which it is, and what wrote it', async () => {
  const answer = await command(root, 'sql', 'FROM snapshot', '--snapshot', first, '--json');
  const duckdb_version = expect.stringMatching(/^v\d/) as string;
  expect((JSON.parse(answer) as { rows: object[] }).rows).toEqual([
    {
      snapshot_id: first,
      as_of: firstAsOf,
      run_id: 1,
      schema_version: schemaVersion,
      offerline_version: packageVersion(),
      duckdb_version,
    },
  ]);
});

it('a moment means the newest as-of up to it, also where the past was published after it', slow, async () => {
  await using network = await PipelineUnderTest.create(new Date(secondAsOf), { sites });
  await network.landLog('clicks', 'ndjson', clicks('first', 1, '2025-03-10T09:30:00Z'));
  await network.refresh(firstAsOf);
  await network.refresh('2025-03-10T10:00:00Z', { allowOlder: true });
  const asOfAt = async (moment: string) => (await findSnapshot(network.data, moment)).manifest.as_of;
  expect(await asOfAt('2025-03-10T13:00:00Z')).toBe(firstAsOf);
  expect(await asOfAt('2025-03-10T11:00:00Z')).toBe('2025-03-10T10:00:00Z');
  await expect(asOfAt('2025-03-10T09:00:00Z')).rejects.toThrow('the oldest is as of 2025-03-10T10:00:00Z');
  // Of two as of one moment it is the one that was published last.
  await network.refresh(firstAsOf, { allowOlder: true });
  const { current } = await network.snapshots();
  expect((await findSnapshot(network.data, '2025-03-10T13:00:00Z')).manifest.snapshot_id).toBe(current);
});

it('says which of them a reader has open', async ({ skip }) => {
  skip(process.platform !== 'linux', 'only Linux lists locks');
  const inUse = async () => {
    const { snapshots } = JSON.parse(await command(root, 'snapshots', '--json')) as {
      snapshots: { in_use: boolean }[];
    };
    return snapshots.map(({ in_use }) => in_use);
  };
  expect(await inUse()).toEqual([false, false]);
  const folder = join(pipeline.data.published, first);
  await withSnapshotDatabase({ folder }, async () => expect(await inUse()).toEqual([false, true]));
});

describe('diff', () => {
  it('lists offers added, removed, re-priced and changed, commissions, and figures that moved', async () => {
    const diff = JSON.parse(await command(root, 'diff', first, 'current', '--json')) as SnapshotDiff;
    expect(diff).toEqual({
      before: { snapshot_id: first, as_of: firstAsOf },
      after: { snapshot_id: second, as_of: secondAsOf },
      added: [{ offer_id: 7, title: 'Comes', payout: '7.000000', before: null }],
      removed: [
        { offer_id: 2, title: 'Goes', payout: '2.000000', after: 'vanished' },
        { offer_id: 6, title: 'Pauses', payout: '6.000000', after: 'paused' },
      ],
      repriced: [
        { offer_id: 3, title: 'Costs more', payout: { before: '3.000000', after: '3.500000' }, milestones: [] },
        {
          offer_id: 4,
          title: 'Has levels',
          payout: { before: '3.000000', after: '3.000000' },
          milestones: [
            { event_id: 'level-1', before: '1', after: '1.25' },
            { event_id: 'level-2', before: '2', after: '1.75' },
          ],
        },
      ],
      changed: [{ offer_id: 5, title: 'New title', version: { before: 1, after: 2 } }],
      commissions: [
        { site_key: 'site-1', of: null, before: '0.200000', after: '0.300000' },
        { site_key: 'site-1', of: 'source:net', before: null, after: '0.350000' },
      ],
      rules: [{ site_key: 'site-2', before: 'all', after: 'format:offerwall, but not offer:5' }],
      figures: [
        {
          offer_id: 1,
          title: 'Stays',
          moved: {
            clicks: { before: 2, after: 3 },
            conversions: { before: 0, after: 1 },
            converted_clicks: { before: 0, after: 1 },
            earnings: { before: '0.000000', after: '1.000000' },
            epc: { before: '0.000000', after: '0.333333' },
            cvr: { before: '0.000000', after: '0.333333' },
            conversions_24h: { before: 0, after: 1 },
            trend: { before: 'stable', after: 'up' },
            rank: { before: null, after: 1 },
          },
        },
      ],
    });
  });

  it('goes both ways: what was added is removed the other way round', async () => {
    const forth = JSON.parse(await command(root, 'diff', first, second, '--json')) as SnapshotDiff;
    const back = JSON.parse(await command(root, 'diff', second, first, '--json')) as SnapshotDiff;
    const ids = (offers: { offer_id: number }[]) => offers.map(({ offer_id }) => offer_id);
    for (const [one, other] of [
      [forth, back],
      [back, forth],
    ] as const)
      expect(ids(one.added)).toEqual(ids(other.removed));
    expect(ids(back.repriced)).toEqual(ids(forth.repriced));
    expect(back.repriced[0]?.payout).toEqual({ before: '3.500000', after: '3.000000' });
  });

  it('is shown to people in sections', async () => {
    const text = await command(root, 'diff', first, second);
    expect(text).toMatch(/offers added: 1\noffer_id {2}title {2}payout {4}was\n +7 {2}Comes {2}7\.000000 {2}unknown\n/);
    expect(text).toContain('level-1 1 → 1.25, level-2 2 → 1.75');
    expect(text).toMatch(/\nsite-1 {4}all others {2}0\.200000 → 0\.300000 *\nsite-1 {4}source:net {2}- → 0\.350000/);
    expect(text).toContain('all → format:offerwall, but not offer:5');
    expect(text).toMatch(/ 1 {2}Stays {2}2 → 3 .* {2}converted_clicks, cvr, conversions_24h, trend\n/);
  });

  it('wants two different snapshots that are kept', async () => {
    expect(await usageErrorOf(root, 'diff', second, 'current')).toContain('name two');
    expect(await usageErrorOf(root, 'diff', 'x', 'current')).toContain(`kept are ${first}, ${second}`);
  });
});

describe('serve --snapshot', () => {
  let service: Service;
  const servedAt = async (address: string) =>
    (await fetch(`${address}/c/api/v1/offers?site_key=site-1&site_secret=${sites[0]?.site_secret}`)).headers.get(
      'x-snapshot-id',
    );
  const start = (snapshotId: string) =>
    createService({
      data: pipeline.data,
      settings: readSettings(pipeline.data),
      log: createLogger({ write: () => true }, 'silent'),
      snapshotId,
      repeat: () => () => undefined,
    });

  it('serves it, follows none, and keeps it from being removed', slow, async () => {
    service = await start(first);
    try {
      const address = await service.listen({ host: '127.0.0.1', port: 0 });
      expect(await servedAt(address)).toBe(first);
      for (const minute of [10, 20]) {
        await pipeline.landLog('clicks', 'ndjson', clicks(`at-${minute}`, 1, '2025-03-10T12:45:00Z'));
        await pipeline.refresh(`2025-03-10T13:${minute}:00Z`);
      }
      await service.poll();
      expect(await servedAt(address)).toBe(first);
      expect([first, second].map((id) => existsSync(join(pipeline.data.published, id)))).toEqual([true, false]);
    } finally {
      await service.close();
    }
  });

  it('refuses one that is not whole, and closes the limits that were opened before', async () => {
    await flipBit(join(pipeline.data.published, first, 'analytics.duckdb'));
    const closed = vi.spyOn(RequestLimits.prototype, 'close');
    onTestFinished(() => closed.mockRestore());
    await expect(start(first)).rejects.toThrow(/damaged: analytics\.duckdb does not have the SHA-256/);
    expect(closed).toHaveBeenCalledOnce();
    expect(await usageErrorOf(root, 'serve', '--snapshot', 'unknown')).toContain('there is no snapshot "unknown"');
  });
});
