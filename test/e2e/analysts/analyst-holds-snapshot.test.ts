import { join } from 'node:path';
import { expect, it } from 'vitest';
import { command } from '../../support/commands.ts';
import { openAnalyst } from './open-analyst.ts';
import { asOf, clicks, smallData } from '../small-data.ts';
import { slow } from '../../support/slow.ts';

const snapshotsKept = 1;

it('an analyst with an open database and the pipeline do not hinder one another', slow, async () => {
  await using pipeline = await smallData({ snapshots_kept: snapshotsKept, snapshots_kept_hours: 0 });
  await pipeline.refresh(asOf);
  const { current: held } = await pipeline.snapshots();
  const analyst = await openAnalyst(join(pipeline.data.current, 'analytics.duckdb'));
  const before = await analyst.ask();

  // More refreshes than snapshots are kept, each with news for a day that the held snapshot has too.
  for (let round = 1; round <= snapshotsKept + 1; round++) {
    await pipeline.landLog('clicks', 'ndjson', clicks(`round-${round}`, 10, '2025-03-10T11:15:00Z'));
    const run = { ended: false };
    const refreshed = pipeline.refresh(`2025-03-10T12:0${round}:00Z`).finally(() => (run.ended = true));
    while (!run.ended) expect(await analyst.ask()).toBe(before);
    expect((await refreshed).snapshotId).not.toBeNull();
  }
  expect(await analyst.ask()).toBe(before);
  const { current, all } = await pipeline.snapshots();
  expect(await pipeline.ask('SELECT count(*) AS clicks FROM clicks')).toEqual([{ clicks: 40 }]);
  expect(current).not.toBe(held);
  expect(all).toContain(held);
  // The link, as many folders as are kept, and the one that is held open beyond them.
  expect(all).toHaveLength(1 + snapshotsKept + 1);

  await analyst.close();
  await pipeline.refresh('2025-03-10T12:30:00Z');
  expect((await pipeline.snapshots()).all).not.toContain(held);
});

it('compaction and retention take nothing from an analyst who holds an older snapshot open', slow, async () => {
  await using pipeline = await smallData({ retention: { events: 2 } });
  await pipeline.refresh(asOf);
  await pipeline.landLog('clicks', 'ndjson', clicks('more', 10, '2025-03-10T11:15:00Z'));
  await pipeline.refresh('2025-03-10T12:10:00Z');
  const analyst = await openAnalyst(join(pipeline.data.current, 'analytics.duckdb'));
  const before = await analyst.ask();

  const words = ['run', 'maintenance', '--as-of', '2025-03-20T12:00:00Z', '--json'];
  const compacted = await command(pipeline.data.root, ...words);
  expect(JSON.parse(compacted)).toMatchObject({ compacted: { days: 2, files: 3 } });
  expect(await analyst.ask()).toBe(before);
  await pipeline.refresh('2025-03-20T12:30:00Z');
  expect(await pipeline.ask('SELECT count(*) AS clicks FROM clicks')).toEqual([{ clicks: 30 }]);
  expect(await analyst.ask()).toBe(before);
  await analyst.close();
});
