import { symlink, writeFile } from 'node:fs/promises';
import { expect, it, onTestFinished } from 'vitest';
import { refresh } from '../../../pipelines/refresh.ts';
// oxlint-disable-next-line import/no-unassigned-import -- the composition root hands in what settings may ask for
import '../../../src/cli/compose.ts';
import { acquireSchedulerLock } from '../../../src/cli/schedule/schedule.ts';
import { StorageStandby } from '../../../src/fleet/storage/leased-schedule.ts';
import { ObjectStore } from '../../../src/fleet/storage/object-store.ts';
import { syncFromStorage } from '../../../src/fleet/storage/writer/sync-from-storage.ts';
import { readSettings } from '../../../src/kit/config/settings.ts';
import { storageSchema } from '../../../src/kit/config/storage-settings.ts';
import { realEffects } from '../../../src/kit/files/effects.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { noProgress } from '../../../src/kit/logging/progress.ts';
import { PictureIndex } from '../../../src/pictures/picture-index.ts';
import { readStatus } from '../../../src/pipeline/status/status.ts';
import { PullLedger } from '../../../src/sources/pull-ledger.ts';
import { PipelineUnderTest } from '../../support/pipeline-under-test.ts';
import { slow } from '../../support/slow.ts';
import { SmallBucket } from '../../support/small-bucket.ts';

const noon = '2026-03-10T12:00:00Z';
const now = Date.parse(noon);
const logger = createLogger({ write: () => true }, 'silent');

const offer = { id: 1, external_id: 'one', title: 'One', payout: '1.5' };

/** Two machines on one storage, with one landing folder: one that wrote before, and one that writes after it. */
async function machines() {
  const bucket = await SmallBucket.start();
  onTestFinished(() => bucket.close());
  const storage = {
    url: `s3://${bucket.name}/network`,
    endpoint: bucket.url,
    access_key_id: 'id',
    secret_access_key: 'very/secret+key',
  };
  const settings = { storage, pictures: true, freshness: { pulls_minutes: 60 } };
  const before = await PipelineUnderTest.create(new Date(noon), { settings });
  onTestFinished(() => before[Symbol.asyncDispose]());
  await before.refresh(noon);
  const writer = await PipelineUnderTest.bare(new Date(noon));
  onTestFinished(() => writer[Symbol.asyncDispose]());
  await writer.configure(settings);
  await writeFile(writer.data.sitesFile, JSON.stringify({ sites: [] }));
  const standby = before.data;
  await symlink(standby.landing, writer.data.landing);
  const standBy = async () => {
    using store = await ObjectStore.open(storageSchema.parse(storage));
    await syncFromStorage({ data: standby, settings: readSettings(standby), logger, effects: realEffects, store });
    const lock = await acquireSchedulerLock(standby.storageScheduleLockFile);
    onTestFinished(() => lock.release());
  };
  return {
    bucket,
    before,
    standby,
    writer,
    standBy,
    statusOfStandby: () => readStatus(standby, readSettings(standby), now),
  };
}

it('a standby whose own last run failed shows nothing of it once another machine has written', slow, async () => {
  const { before, standby, writer, standBy, statusOfStandby } = await machines();
  const rename = async (...[from, to, step]: Parameters<typeof realEffects.files.rename>) => {
    if (step === 'current link: switched') throw new Error('a disk that fails');
    return realEffects.files.rename(from, to, step);
  };
  const effects = { ...realEffects, now: () => now, files: { ...realEffects.files, rename } };
  await before.landOffers('net', [offer]);
  const request = { data: standby, terminal: { logger, progress: noProgress }, asOf: noon };
  await expect(refresh(request, effects)).rejects.toThrow('a disk that fails');
  expect((await statusOfStandby()).alarms.join()).toContain('and no run has been good since');
  await writer.refresh(noon);
  await standBy();
  expect(await statusOfStandby()).toMatchObject({ last_failure: null, alarms: [] });
});

it(
  'a standby makes no pulls and mirrors no pictures, so that none failed, ended by force or is too old',
  slow,
  async () => {
    const { before, standby, writer, standBy, statusOfStandby } = await machines();
    const north = { source: 'north', connector: 'everflow', secrets: { api_key: 'k'.repeat(20) } };
    for (const { sourcesFile } of [standby, writer.data])
      await writeFile(sourcesFile, JSON.stringify({ sources: [north] }), { mode: 0o600 });
    {
      using ledger = new PullLedger(standby);
      ledger.end(ledger.begin('north', noon), noon, { status: 'failed', error: 'HTTP 503' });
      using index = await PictureIndex.open(standby, realEffects.files, () => undefined);
      index.beginPass(now);
    }
    expect((await statusOfStandby()).alarms).toEqual([
      'source north was not pulled: HTTP 503',
      'the last pass over pictures ended by force, without a word',
    ]);
    await before.landOffers('net', [offer]);
    await writer.refresh(noon);
    await standBy();
    expect(await statusOfStandby()).toMatchObject({ sources: [], pictures: null, alarms: [], stale: [] });
  },
);

it(
  'a standby that cannot bring what storage has tries again after waits that double, up to half a minute',
  slow,
  async () => {
    const { bucket, writer } = await machines();
    const { data } = writer;
    const settings = readSettings(data);
    using store = await ObjectStore.open(storageSchema.parse(settings.storage));
    let seconds = 0;
    const standby = new StorageStandby({ data, settings, logger, effects: realEffects, store }, () => seconds * 1000);
    bucket.fault = ({ key }) => (key.includes('/content/') ? { status: 403, code: 'AccessDenied' } : undefined);
    const tries: number[] = [];
    for (; seconds < 100; seconds++) {
      bucket.requests.length = 0;
      expect(await standby.keepUp()).toContain('HTTP 403 AccessDenied');
      if (bucket.requests.length > 0) tries.push(seconds);
    }
    expect(tries).toEqual([0, 2, 6, 14, 30, 60, 90]);
    bucket.fault = () => undefined;
    seconds = 120;
    expect(await standby.keepUp()).toBeUndefined();
  },
);
