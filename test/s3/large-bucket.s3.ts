import { describe, expect, it, onTestFinished } from 'vitest';
import { TakenObjects } from '../../src/sources/s3/taken-objects.ts';
import { bucketData } from './store/bucket-source.ts';
import { FaultyProxy } from './store/faulty-proxy.ts';
import { Moto } from './store/moto.ts';
import { pullInProcess } from './store/pull-process.ts';

/** The server that stands in takes as long for each page as it has objects. */
const objects = Number(process.env['OFFERLINE_S3_OBJECTS'] ?? 20_000);
const untaken = 7;

describe(`a bucket of ${objects} objects`, () => {
  it('is listed by a thousand, and only what is new is asked for', async () => {
    await using moto = await Moto.start({ filled: objects });
    await using proxy = await FaultyProxy.before(moto.url);
    const { data, remove } = await bucketData(proxy.url, { prefixes: { clicks: 'clicks/' } });
    onTestFinished(remove);
    {
      using taken = new TakenObjects(data);
      const etag = '"8a80554c91d9fca8acb82f023de02f11"';
      const keys = Array.from(
        { length: objects },
        (_, index) => `clicks/2026/11/18/edge-fra/${String(index).padStart(6, '0')}.ndjson`,
      );
      const known = keys
        .filter((_, index) => index % Math.ceil(objects / untaken) !== 0)
        .map((key) => ({ object: { key, etag, bytes: 3, modified: 0, storageClass: 'STANDARD' }, path: 'clicks/x' }));
      taken.put({ source: 'logs', bucket: 'logs', kind: 'clicks' }, known);
    }
    const said = await pullInProcess({ root: data.root, killAt: null });
    expect(said?.pulled).toMatchObject([{ status: 'done', pages: objects / 1000, records: untaken }]);
    expect(proxy.requests.filter(({ isList }) => isList)).toHaveLength(objects / 1000);
    expect(proxy.takeReads()).toHaveLength(untaken);
    // A process that pulls three objects takes as much, but for some tens of megabytes.
    expect(said?.peakMegabytes).toBeLessThan(300);
    process.stderr.write(`listing ${objects} objects: ${said?.peakMegabytes.toFixed(0)} MB at most\n`);
  }, 300_000);
});
