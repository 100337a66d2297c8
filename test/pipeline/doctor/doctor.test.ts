import { mkdir, readdir, readFile, rename, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { examine, examineUnwritable, type Diagnosis } from '../../../src/pipeline/doctor/doctor.ts';
import { rebuild } from '../../../src/pipeline/doctor/rebuild.ts';
import type { Opening } from '../../../src/pipeline/recovery/recover-state.ts';
import { realEffects } from '../../../src/kit/files/effects.ts';
import { openSqlite } from '../../../src/kit/sqlite/open-sqlite.ts';
import { noProgress } from '../../../src/kit/logging/progress.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { asOf, clicks, smallData } from '../../e2e/small-data.ts';
import { changeState } from '../../support/change-state.ts';
import { flipBit } from '../../support/published-snapshot.ts';
import type { PipelineUnderTest } from '../../support/pipeline-under-test.ts';
import { sharedPipeline } from '../../support/shared-pipeline.ts';
import { slow } from '../../support/slow.ts';

const refreshed = sharedPipeline(async () => {
  const pipeline = await smallData();
  await pipeline.refresh(asOf);
  return pipeline;
});

function opening({ data }: PipelineUnderTest): Opening {
  return {
    data,
    settings: { duckdb: { threads: 1 } },
    logger: createLogger({ write: () => true }, 'silent'),
    effects: realEffects,
  };
}

function doctor(pipeline: PipelineUnderTest, { deep = false, repair = false } = {}): Promise<Diagnosis> {
  return examine(opening(pipeline), { deep, repair, progress: noProgress });
}

/** `check subject-file level`, without the folders. */
function listed({ findings }: Diagnosis): string[] {
  return findings.map(({ check, subject, level }) => `${level} ${check} ${subject.split('/').at(-1)}`).toSorted();
}

async function eventFile(pipeline: PipelineUnderTest, kind: 'clicks' | 'conversions'): Promise<string> {
  const entries = await readdir(join(pipeline.data.events, kind), { recursive: true, withFileTypes: true });
  const file = entries.find((entry) => entry.isFile());
  return join(file?.parentPath ?? '', file?.name ?? '');
}

it('takes a damaged picture away', slow, async () => {
  const pipeline = await refreshed();
  const picture = join(pipeline.data.pictures, `${'0'.repeat(64)}.png`);
  await mkdir(pipeline.data.pictures);
  await writeFile(picture, 'not what its name says');
  expect(listed(await doctor(pipeline))).toEqual([]);
  const found = [`trouble pictures ${'0'.repeat(64)}.png`];
  expect(listed(await doctor(pipeline, { deep: true }))).toEqual(found);
  expect((await doctor(pipeline, { deep: true, repair: true })).repaired).toHaveLength(1);
  expect(await readdir(pipeline.data.pictures)).toEqual([]);
});

it('notes missing keys of events, as after a takeover, and makes them where asked', slow, async () => {
  const pipeline = await refreshed();
  await rm(pipeline.data.keys, { recursive: true });
  expect(listed(await doctor(pipeline))).toEqual(['note keys clicks', 'note keys conversions']);
  // Nothing is ingested, and the snapshot needs the keys of clicks.
  await pipeline.refresh('2025-03-10T12:30:00Z');
  expect(listed(await doctor(pipeline))).toEqual(['note files warehouse', 'note keys conversions']);
  await doctor(pipeline, { repair: true });
  expect(listed(await doctor(pipeline, { deep: true }))).toEqual([]);
});

it('misses no keys of events once a copy of the state is restored that names keys merged since', slow, async () => {
  const pipeline = await refreshed();
  await rm(pipeline.data.keys, { recursive: true });
  await truncate(pipeline.data.stateFile, 100);
  await pipeline.refresh('2025-03-10T12:30:00Z');
  expect(listed(await doctor(pipeline, { deep: true })).filter((found) => found.includes('keys'))).toEqual([]);
});

it('sees each damage, repairs what can be repaired, and is content afterwards', slow, async () => {
  const pipeline = await refreshed();
  expect(listed(await doctor(pipeline, { deep: true }))).toEqual([]);
  const before = await pipeline.figures(asOf);

  const [clicksFile, martsFolder] = [await eventFile(pipeline, 'clicks'), join(pipeline.data.marts, 'offer_hourly')];
  await rm(clicksFile);
  await rm(martsFolder, { recursive: true });
  await writeFile(join(pipeline.data.events, 'left.parquet'), 'by an unfinished run');
  await changeState(pipeline.data, 'UPDATE click_hourly SET clicks = clicks + 1');
  const seen = await doctor(pipeline);
  expect(listed(seen)).toEqual(
    [
      'note files warehouse',
      `trouble files ${clicksFile.split('/').at(-1)}`,
      'trouble files run-00000001.parquet',
    ].toSorted(),
  );
  expect(seen.repaired).toEqual([]);
  const repaired = await doctor(pipeline, { repair: true });
  expect(repaired.repaired).toHaveLength(2);
  // The count of clicks can be held against the roll-up once their file is back.
  expect(listed(await doctor(pipeline))).toEqual([
    'note machine ' + (await readdir(pipeline.data.quarantine))[0],
    'trouble roll-up click_hourly',
  ]);
  await doctor(pipeline, { repair: true });
  await pipeline.refresh(asOf);
  expect((await doctor(pipeline, { deep: true })).findings.filter(({ level }) => level === 'trouble')).toEqual([]);
  expect(await pipeline.figures(asOf)).toEqual(before);
});

it('checks sums of all days where every byte is read; the next run mends wrong ones', slow, async () => {
  const pipeline = await refreshed();
  const before = await pipeline.figures(asOf);
  // A refresh leaves replaced files for the next one to remove, which is a note.
  const troubles = async (how = {}) =>
    listed(await doctor(pipeline, how)).filter((finding) => finding.startsWith('trouble'));
  for (const damage of [
    'UPDATE network_hourly SET clicks = clicks + 1',
    'DELETE FROM site_days',
    `INSERT INTO site_days VALUES (DATE '2020-01-01', 'stray', 1, 0, 0, 0)`,
  ]) {
    await changeState(pipeline.data, damage);
    expect(await troubles(), damage).toEqual([]);
    expect(await troubles({ deep: true, repair: true }), damage).toEqual([
      'trouble roll-up sums by hour, day and site',
    ]);
    await pipeline.refresh(asOf);
    expect(await troubles({ deep: true }), damage).toEqual([]);
    expect(await pipeline.figures(asOf), damage).toEqual(before);
  }
});

it('finds a flipped byte where every byte is read, and has the logs read again', slow, async () => {
  await using pipeline = await smallData();
  await pipeline.landOffers('net', [
    { id: 1, external_id: 'one', title: 'One', payout: '1.5' },
    { external_id: 'new', title: 'New', payout: '1' },
  ]);
  await pipeline.refresh(asOf);
  const [before, offers] = [await pipeline.figures(asOf), await pipeline.ask('FROM offers')];
  const file = await eventFile(pipeline, 'clicks');
  await flipBit(file);
  expect(listed(await doctor(pipeline))).toEqual(['trouble snapshots ' + (await pipeline.snapshots()).current]);
  const [log = ''] = await readdir(join(pipeline.data.landing, 'clicks'));
  await rename(join(pipeline.data.landing, 'clicks', log), join(pipeline.data.root, log));
  const without = await doctor(pipeline, { deep: true, repair: true });
  expect(without.findings.find(({ check }) => check === 'files')).toMatchObject({
    problem: 'has other bytes than its row says',
    repairable: false,
    advice: expect.stringMatching(/1 logs with 20 rows.*put them back/) as string,
  });

  await rename(join(pipeline.data.root, log), join(pipeline.data.landing, 'clicks', log));
  const { findings, repaired } = await doctor(pipeline, { deep: true, repair: true });
  expect(repaired).toEqual(findings.filter(({ level }) => level === 'trouble'));
  await pipeline.refresh(asOf);
  expect(await pipeline.figures(asOf)).toEqual(before);
  expect(await pipeline.ask('FROM offers')).toEqual(offers);
  // The damaged snapshot was the only one: it goes now that another is there.
  expect(
    listed(await doctor(pipeline, { deep: true, repair: true })).filter((line) => line.startsWith('trouble')),
  ).toEqual(['trouble snapshots 00000001-20250310T120000Z']);
  expect((await doctor(pipeline, { deep: true })).findings.filter(({ level }) => level === 'trouble')).toEqual([]);
});

it('a run that needs an event file which is gone says so plainly, and goes on after the repair', slow, async () => {
  const pipeline = await refreshed();
  await rm(await eventFile(pipeline, 'clicks'));
  const later = '2025-03-10T12:30:00Z';
  await pipeline.landLog('clicks', 'ndjson', clicks('second', 5, '2025-03-10T12:10:00Z'));
  await pipeline.landLog('conversions', 'ndjson', [
    { conversion_id: 'v2', click_id: 'first-2', kind: 'credit', occurred_at: '2025-03-10T12:20:00Z' },
  ]);
  await expect(pipeline.refresh(later)).rejects.toThrow(
    /^A file of the warehouse cannot be read; nothing of this run was kept. `offerline doctor --deep --repair`/,
  );
  await doctor(pipeline, { repair: true });
  await pipeline.refresh(later);
  expect(await pipeline.ask(`SELECT status FROM conversions WHERE conversion_id = 'v2'`)).toEqual([
    { status: 'credited' },
  ]);
});

it('does not rebuild from a landing folder that lacks logs that count, and reports it', slow, async () => {
  const pipeline = await refreshed();
  await pipeline.landLog('clicks', 'ndjson', clicks('second', 5, '2025-03-10T10:30:00Z'));
  await pipeline.refresh('2025-03-10T12:01:00Z');
  const logs = await readdir(join(pipeline.data.landing, 'clicks'));
  await rm(join(pipeline.data.landing, 'clicks', logs[0] ?? ''));
  await expect(rebuild(opening(pipeline), { fromLanding: true, withoutMissing: false })).rejects.toThrow(
    /1 logs with 20 rows that count are not in .*--without-missing/,
  );
  expect(listed(await doctor(pipeline))).toEqual(['note files warehouse', 'note landing landing']);
  await mkdir(pipeline.data.postbacks, { recursive: true });
  await writeFile(pipeline.data.deliveriesFile, 'no database at all');
  expect(listed(await doctor(pipeline))).toEqual([
    'note files warehouse',
    'note landing landing',
    'trouble deliveries deliveries.sqlite',
  ]);
});

/** Opening the state fails by a disk that takes nothing. */
function onFullDisk(pipeline: PipelineUnderTest): Opening {
  return {
    ...opening(pipeline),
    effects: {
      ...realEffects,
      perform(step, work) {
        if (step === 'state: opened') throw new Error('IO Error: Could not write file: No space left on device');
        return work();
      },
    },
  };
}

it('goes on without the state where the disk cannot be written, and repairs nothing then', async () => {
  const pipeline = await refreshed();
  const { current } = await pipeline.snapshots();
  await writeFile(join(pipeline.data.published, current, 'feed-offers.ndjson'), '');
  const found = [`note state state.duckdb`, `trouble snapshots ${current}`];
  const request = { deep: false, progress: noProgress };
  expect(listed(await examine(onFullDisk(pipeline), { ...request, repair: false }))).toEqual(found);
  await expect(examine(onFullDisk(pipeline), { ...request, repair: true })).rejects.toThrow('The disk is full');
  const refused = new Error('no lock', { cause: new Error("EROFS: read-only file system, access 'writer.lock'") });
  const unlocked = await examineUnwritable(opening(pipeline), false, refused);
  expect(listed(unlocked)).toEqual(found);
  expect(unlocked.findings.at(-1)?.problem).toMatch(/not looked at.*EROFS/);
});

it('leaves a store of deliveries where it is that cannot be opened, as on a full disk: it may be whole', async () => {
  const pipeline = await refreshed();
  const { data } = pipeline;
  openSqlite(data.deliveriesFile).close();
  // SQLite cannot make what it needs beside the file, in order to read it.
  await mkdir(`${data.deliveriesFile}-wal`);
  const { findings, repaired } = await doctor(pipeline, { repair: true });
  expect(findings).toMatchObject([
    { check: 'deliveries', problem: expect.stringContaining('was not looked at') as string },
  ]);
  expect(repaired).toEqual([]);
  expect(await readdir(data.postbacks)).toContain('deliveries.sqlite');
});

it('quarantines an unreadable state and damaged snapshots, and switches to a good one', slow, async () => {
  const pipeline = await refreshed();
  const first = (await pipeline.snapshots()).current;
  await pipeline.refresh('2025-03-10T12:01:00Z');
  const second = (await pipeline.snapshots()).current;
  await truncate(pipeline.data.stateFile, 5000);
  await writeFile(join(pipeline.data.published, second, 'feed-offers.ndjson'), '');
  expect(listed(await doctor(pipeline))).toEqual([`trouble snapshots ${second}`, 'trouble state state.duckdb']);
  await doctor(pipeline, { repair: true });
  expect((await pipeline.snapshots()).current).toBe(first);
  expect((await doctor(pipeline, { deep: true })).findings.filter(({ level }) => level === 'trouble')).toEqual([]);
  await pipeline.refresh('2025-03-10T12:01:00Z');
  expect((await pipeline.snapshots()).all).toContain((await pipeline.snapshots()).current);
});

it('keeps the only snapshot until another takes its place, though an event file is damaged in both', slow, async () => {
  const pipeline = await refreshed();
  const before = await pipeline.figures(asOf);
  const file = await eventFile(pipeline, 'clicks');
  const { size } = await stat(file);
  // In place: the snapshot's link has the same bytes.
  await writeFile(file, Buffer.alloc(size), { flag: 'r+' });
  await doctor(pipeline, { repair: true });
  expect((await pipeline.snapshots()).all).toContain((await pipeline.snapshots()).current);
  await pipeline.refresh(asOf);
  expect(await pipeline.figures(asOf)).toEqual(before);
  expect(
    (await doctor(pipeline, { deep: true, repair: true })).findings.filter(
      ({ repairable, level }) => level === 'trouble' && !repairable,
    ),
  ).toEqual([]);
});

it.each([
  ['the doctor', (pipeline: PipelineUnderTest) => doctor(pipeline, { repair: true })],
  ['a run', (pipeline: PipelineUnderTest) => pipeline.refresh('2025-03-10T12:01:00Z')],
] as const)(
  '%s puts a damaged store of deliveries aside with its log, where the doctor lists it',
  async (_, puttingAside) => {
    const pipeline = await refreshed();
    const { data } = pipeline;
    await mkdir(data.postbacks, { recursive: true });
    await writeFile(data.deliveriesFile, Buffer.alloc(8192, 7));
    await writeFile(`${data.deliveriesFile}-wal`, 'its log');
    expect(listed(await doctor(pipeline))).toEqual(['trouble deliveries deliveries.sqlite']);
    await puttingAside(pipeline);
    const [folder = '', ...others] = await readdir(data.quarantine);
    expect(others).toEqual([]);
    // SQLite may remove its log itself when it opens the file.
    expect(await readdir(join(data.quarantine, folder))).toEqual(
      expect.arrayContaining(['deliveries.sqlite', 'reason.txt']),
    );
    expect(await readFile(join(data.quarantine, folder, 'reason.txt'), 'utf8')).toContain('file is not a database');
    expect(
      (await readdir(data.postbacks)).filter((name) => !['deliveries.sqlite', 'delivery.lock'].includes(name)),
    ).toEqual([]);
    expect(listed(await doctor(pipeline))).toContain(`note machine ${folder}`);
  },
);
