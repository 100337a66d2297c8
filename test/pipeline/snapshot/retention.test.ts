import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { maintenance } from '../../../pipelines/maintenance.ts';
import { refresh } from '../../../pipelines/refresh.ts';
import { queryRows } from '../../../src/kit/duckdb/dialect/rows.ts';
import { inMemory, withDuckDB } from '../../../src/kit/duckdb/open.ts';
import { realEffects, type Effects } from '../../../src/kit/files/effects.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { noProgress } from '../../../src/kit/logging/progress.ts';
import { snapshotNames } from '../../../src/pipeline/snapshot/snapshot-store.ts';
import { PipelineUnderTest } from '../../support/pipeline-under-test.ts';
import { slow } from '../../support/slow.ts';

const terminal = { logger: createLogger({ write: () => true }, 'silent'), progress: noProgress };

it('a snapshot whose removal broke off is none, and the next run removes the rest', slow, async () => {
  const first = '2026-03-10T12:00:00Z';
  await using pipeline = await PipelineUnderTest.create(new Date(first), {
    settings: { snapshots_kept: 1, snapshots_kept_hours: 0 },
  });
  const { data } = pipeline;
  await pipeline.refresh(first);
  const remove: Effects['files']['remove'] = (path, step) => {
    if (step === 'old snapshot: removed') throw Object.assign(new Error('made to fail'), { code: 'EIO' });
    return realEffects.files.remove(path, step);
  };
  const second = '2026-03-10T13:00:00Z';
  const effects: Effects = { ...realEffects, now: () => Date.parse(second), files: { ...realEffects.files, remove } };
  await expect(refresh({ data, terminal, asOf: second }, effects)).rejects.toThrow();
  expect(await snapshotNames(data)).toHaveLength(1);
  expect((await readdir(data.published)).some((name) => name.endsWith('.retired'))).toBe(true);
  await pipeline.refresh('2026-03-10T14:00:00Z');
  const { current } = await pipeline.snapshots();
  expect((await readdir(data.published)).toSorted()).toEqual([current, 'current', 'offerline.ducklake']);
});

it('the newest snapshot of each hour of the last hours stays, too', slow, async () => {
  const settings = { snapshots_kept: 1, snapshots_kept_hours: 3 };
  await using pipeline = await PipelineUnderTest.create(new Date('2026-03-10T12:00:00Z'), { settings });
  for (const time of ['08:10', '09:10', '09:50', '10:20', '11:05', '11:40', '12:10'])
    await pipeline.refresh(`2026-03-10T${time}:00Z`);
  const kept = await snapshotNames(pipeline.data);
  expect(kept.map((name) => name.slice(-7, -3))).toEqual(['0950', '1020', '1140', '1210']);
});

it('a half-built snapshot that a killed run left goes with the next run', slow, async () => {
  const asOf = '2026-03-10T12:00:00Z';
  await using pipeline = await PipelineUnderTest.create(new Date(asOf));
  const { data } = pipeline;
  await pipeline.refresh(asOf);
  const published = await snapshotNames(data);
  await mkdir(join(data.published, '00000000-20260310T110000Z', 'tables'), { recursive: true });
  await pipeline.refresh(asOf);
  expect(await snapshotNames(data)).toEqual(published);
});

it('maintenance removes what settings keep no more, without a publish, and the lake names the rest', slow, async () => {
  await using pipeline = await PipelineUnderTest.create(new Date('2026-03-10T12:00:00Z'));
  const { data } = pipeline;
  for (const time of ['10', '11', '12']) await pipeline.refresh(`2026-03-10T${time}:00:00Z`);
  const names = await snapshotNames(data);
  expect(names).toHaveLength(3);
  await writeFile(data.settingsFile, JSON.stringify({ snapshots_kept: 1, snapshots_kept_hours: 0 }));
  const request = { data, terminal, asOf: '2026-03-10T12:30:00Z' };
  expect(await maintenance(request)).toMatchObject({ retired: names.slice(0, 2) });
  expect(await snapshotNames(data)).toEqual(names.slice(2));
  const named = await withDuckDB(inMemory, {}, async (connection) => {
    await connection.run(`ATTACH '${data.lakeFile}' AS lake (READ_ONLY)`);
    return queryRows(connection, 'FROM lake.ducklake_snapshot_changes');
  });
  expect(named).toHaveLength(1);
  expect(await maintenance(request)).toMatchObject({ retired: [] });
});
