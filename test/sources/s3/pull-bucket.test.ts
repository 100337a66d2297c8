import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { appendFile, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { checkSources } from '../../../pipelines/check-sources.ts';
import { pullSources } from '../../../pipelines/pull.ts';
import type { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { realEffects, type Effects } from '../../../src/kit/files/effects.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { noProgress } from '../../../src/kit/logging/progress.ts';
import { Redactor } from '../../../src/kit/config/secrets.ts';
import { findLandingFiles } from '../../../src/pipeline/landing/files/find-files.ts';
import { s3Schema } from '../../../src/sources/config/s3-settings.ts';
import { readSources } from '../../../src/sources/config/sources-file.ts';
import type { PullClock } from '../../../src/sources/http/budget.ts';
import { syncEveryBytes } from '../../../src/sources/s3/fetch-object.ts';
import { pullObjects, type ObjectsPull } from '../../../src/sources/s3/pull-objects.ts';
import { TakenObjects } from '../../../src/sources/s3/taken-objects.ts';
import { temporaryData } from '../../support/published-snapshot.ts';
import { SmallBucket } from '../../support/small-bucket.ts';
import { slow } from '../../support/slow.ts';

const secrets = { access_key_id: 'AKIAOFFERLINETEST', secret_access_key: 'very/secret+key' };
const lists = { bucket: 'logs', clicks: 'clicks/', offers: 'offers/' };

let logged = '';
const terminal = {
  logger: createLogger({ write: (line: string) => ((logged += line), true) }),
  progress: noProgress,
};
const waits: number[] = [];
const clock: PullClock = {
  now: () => Date.parse('2026-11-18T12:00:00Z'),
  steady: () => 0,
  wait: async (milliseconds, signal) => {
    signal.throwIfAborted();
    waits.push(milliseconds);
  },
  random: () => 0,
};

const bucket = await SmallBucket.start();
afterAll(() => bucket.close());
let data: DataDirectory;

beforeEach(async () => {
  const temporary = await temporaryData();
  onTestFinished(temporary.remove);
  data = temporary.data;
  logged = '';
  waits.length = 0;
  bucket.clear();
  await declare();
});

async function declare(other: object = {}): Promise<void> {
  const source = { source: 'logs', connector: 's3', base_url: bucket.url, secrets, s3: lists, ...other };
  await writeFile(data.sourcesFile, JSON.stringify({ sources: [source] }), { mode: 0o600 });
}

const pull = async (effects: Effects = realEffects, stop?: AbortSignal) => {
  const [pulled] = await pullSources({ data, terminal, ...(stop && { stop }) }, effects, clock);
  return pulled;
};

async function landed(kind: 'clicks' | 'offers'): Promise<string[]> {
  const folder = join(data.landing, kind, 'logs');
  const names = (await readdir(folder).catch((): string[] => [])).toSorted();
  return Promise.all(names.map(async (name) => readFile(join(folder, name), 'utf8')));
}
const partsLeft = async () =>
  (await readdir(join(data.landing, 'clicks/logs'))).filter((name) => name.endsWith('.part'));

describe('a bucket', () => {
  it('gives each object once, and again what was put under its key since', async () => {
    bucket.put('clicks/a.ndjson', 'a1\n');
    bucket.put('clicks/deep/a.ndjson', 'b1\n', { modified: '2026-11-18T10:00:01Z' });
    expect(await pull()).toMatchObject({ status: 'done', pages: 2, records: 2, file: '2 files', error: null });
    expect(await landed('clicks')).toEqual(['a1\n', 'b1\n']);
    expect(bucket.takeReads().map(({ ifMatch }) => ifMatch)).not.toContain(undefined);

    expect(await pull()).toMatchObject({ status: 'done', records: 0, file: null });
    expect(bucket.takeReads()).toEqual([]);

    bucket.put('clicks/a.ndjson', 'a1\na2\n', { modified: '2026-11-18T11:00:00Z' });
    expect(await pull()).toMatchObject({
      records: 1,
      file: expect.stringMatching(/^clicks\/logs\/2026.*-a-.*ndjson$/),
    });
    expect(await landed('clicks')).toEqual(['a1\n', 'b1\n', 'a1\na2\n']);
  });

  it('gives nothing twice when landing files have been archived', async () => {
    bucket.put('clicks/a.ndjson', 'a1\n');
    await pull();
    await rm(join(data.landing, 'clicks'), { recursive: true });
    bucket.takeReads();
    expect(await pull()).toMatchObject({ status: 'done', records: 0 });
    expect(bucket.takeReads()).toEqual([]);
  });

  it('gives an export again that returns to what it was', async () => {
    for (const [hour, text] of ['A', 'B', 'A'].entries()) {
      bucket.put('offers/catalog.json', text, { modified: `2026-11-18T1${hour}:00:00Z` });
      expect(await pull()).toMatchObject({ records: 1 });
    }
    expect(await landed('offers')).toEqual(['A', 'B', 'A']);
  });

  it('gives exports the age that they have there, so that the newest decides', async () => {
    bucket.put('offers/b.json', '[]', { modified: '2026-11-17T10:00:00Z' });
    bucket.put('offers/a.json', '[{}]', { modified: '2026-11-18T10:00:00.250Z' });
    await pull();
    const folder = join(data.landing, 'offers/logs');
    const ages = await Promise.all(
      (await readdir(folder)).toSorted().map(async (name) => (await stat(join(folder, name))).mtime.toISOString()),
    );
    expect(ages).toEqual(['2026-11-17T10:00:00.000Z', '2026-11-18T10:00:00.250Z']);
  });

  it('is listed page by page, whatever characters its keys have', slow, async () => {
    const keys = Array.from(
      { length: 1002 },
      (_, index) => `clicks/${String(index).padStart(5, '0')} &+<ü\u0001.ndjson`,
    );
    for (const key of keys) bucket.put(key, `${key}\n`);
    expect(await pull()).toMatchObject({ pages: 3, records: 1002 });
    const reads = bucket.takeReads();
    expect(new Set(reads.map(({ key }) => key))).toEqual(new Set(keys));
    expect(await pull()).toMatchObject({ pages: 3, records: 0 });
  });

  it('keeps the partitions of Parquet as folders, also of the part that a pull has left', async () => {
    const key = 'clicks/site_key=beta/country=DE/data_0.parquet';
    const folder = join(data.landing, 'clicks/logs/site_key=beta/country=DE');
    const whole = 'x'.repeat(1000);
    bucket.put(key, whole);
    bucket.put('offers/country=DE/data_0.parquet', 'offers');
    bucket.fault = (request) => (request.key === key ? { shortBy: 900 } : undefined);
    expect(await pull()).toMatchObject({ status: 'failed', records: 1 });
    const [part = '', ...others] = await readdir(folder);
    expect([part, others]).toEqual([expect.stringMatching(/^2026.*-data_0-[0-9a-f]{16}\.parquet\.part$/), []]);
    const { size } = await stat(join(folder, part));
    bucket.takeReads();
    bucket.fault = () => undefined;
    expect(await pull()).toMatchObject({ status: 'done', records: 1 });
    expect(bucket.takeReads().map(({ range }) => range)).toEqual([`bytes=${size}-999`]);
    expect(await readdir(folder)).toEqual([part.slice(0, -'.part'.length)]);
    expect((await findLandingFiles(data.landing)).files).toMatchObject([
      { path: expect.stringMatching(/^clicks\/logs\/site_key=beta\/country=DE\/2026/), bytes: 1000 },
      { path: expect.stringMatching(/^offers\/logs\/country=DE\/2026/), source: 'logs', bytes: 6 },
    ]);
    expect(await pull()).toMatchObject({ status: 'done', records: 0 });

    bucket.put(key, 'another', { modified: '2026-11-18T11:00:00Z' });
    bucket.fault = ({ kind }) => (kind === 'get' ? { shortBy: 1 } : undefined);
    expect(await pull()).toMatchObject({ status: 'failed' });
    expect(await readdir(folder)).toHaveLength(2);
    bucket.clear();
    expect(await pull()).toMatchObject({ status: 'done', records: 0 });
    expect(await readdir(folder)).toEqual([part.slice(0, -'.part'.length)]);
  });

  it('gives nothing again that was pulled before its partitions were kept', async () => {
    const key = 'clicks/country=DE/data_0.parquet';
    bucket.put(key, 'x');
    const etag = `"${createHash('md5').update('x').digest('hex')}"`;
    using taken = new TakenObjects(data);
    const object = { key, etag, bytes: 1, modified: 0, storageClass: '' };
    taken.put({ source: 'logs', bucket: 'logs', kind: 'clicks' }, [{ object, path: 'clicks/logs/data_0.parquet' }]);
    expect(await pull()).toMatchObject({ status: 'done', records: 0 });
    expect(bucket.takeReads()).toEqual([]);
  });

  it('counts what is left out, by reason', async () => {
    bucket.put('clicks/', '');
    bucket.put('clicks/empty.csv', '');
    bucket.put('clicks/readme.md', 'x');
    bucket.put('clicks/_tmp/a.csv', 'x');
    bucket.put('clicks/cold.csv', 'x', { storageClass: 'GLACIER' });
    expect(await pull()).toMatchObject({
      status: 'done',
      records: 0,
      left_out: { folder: 1, empty: 1, unread_ending: 1, unfinished: 1, archived: 1 },
    });
    bucket.put('clicks/cold.csv', 'x');
    expect(await pull()).toMatchObject({ records: 1 });
    bucket.put('clicks/cold.csv', 'x', { storageClass: 'GLACIER' });
    expect((await pull())?.left_out).toEqual({ folder: 1, empty: 1, unread_ending: 1, unfinished: 1 });
  });
});

describe('an object', () => {
  const large = Buffer.alloc(3 * syncEveryBytes + 17, 'clicks of a large log\n');

  it('goes on where its connection was cut', async () => {
    bucket.put('clicks/a.ndjson', large);
    let cuts = 3;
    bucket.fault = ({ kind }) => (kind === 'get' && cuts-- > 0 ? { cutAfter: 5_000_000 } : undefined);
    expect(await pull()).toMatchObject({ status: 'done', records: 1 });
    expect(await landed('clicks')).toEqual([large.toString()]);
    const ranges = bucket.takeReads().map(({ range }) => range);
    expect(ranges).toHaveLength(4);
    expect(ranges[0]).toBeUndefined();
    for (const range of ranges.slice(1)) expect(range).toMatch(/^bytes=\d{7,}-25165840$/);
    expect(logged).toContain('broke off after');
    expect(waits.length).toBe(3);
  });

  it('is read again where its checksum does not fit', async () => {
    bucket.put('clicks/a.ndjson', 'a1\n');
    let flips = 1;
    bucket.fault = ({ kind }) => (kind === 'get' && flips-- > 0 ? { flippedBit: true } : undefined);
    expect(await pull()).toMatchObject({ status: 'done', records: 1 });
    expect(bucket.takeReads().map(({ range }) => range)).toEqual([undefined, undefined]);
    expect(await landed('clicks')).toEqual(['a1\n']);

    bucket.put('clicks/b.ndjson', 'b1\n');
    bucket.fault = ({ kind }) => (kind === 'get' ? { flippedBit: true } : undefined);
    expect(await pull()).toMatchObject({
      status: 'failed',
      error: 'object clicks/b.ndjson of bucket logs: no whole answer: a checksum that does not fit',
    });
    expect(await landed('clicks')).toEqual(['a1\n']);
  });

  it('fails the pull after five tries, and the next one goes on from what is on the disk', async () => {
    bucket.put('clicks/a.ndjson', large);
    let gets = 0;
    bucket.fault = ({ kind }) => (kind === 'get' ? { cutAfter: gets++ === 0 ? syncEveryBytes + 1000 : 0 } : undefined);
    expect(await pull()).toMatchObject({
      status: 'failed',
      records: 0,
      error: expect.stringMatching(/^object clicks\/a\.ndjson of bucket logs: no whole answer: ECONNRESET/),
    });
    const [part = '', ...parts] = await partsLeft();
    expect(parts).toEqual([]);
    const { size } = await stat(join(data.landing, 'clicks/logs', part));
    expect(size).toBeGreaterThan(syncEveryBytes / 2);
    bucket.takeReads();
    bucket.fault = () => undefined;
    expect(await pull()).toMatchObject({ status: 'done', records: 1 });
    expect(bucket.takeReads().map(({ range }) => range)).toEqual([`bytes=${size}-${large.length - 1}`]);
    expect(await landed('clicks')).toEqual([large.toString()]);
    expect(await partsLeft()).toEqual([]);
  });

  it.each(['ndjson', 'csv.gz', 'json.zst', 'tsv.bz2', 'jsonl.zip', 'txt', 'parquet', 'xlsx'])(
    'goes on from its part, which then is gone, whatever its ending: .%s',
    async (ending) => {
      const text = 'x'.repeat(1000);
      bucket.put(`clicks/a.${ending}`, text);
      bucket.fault = ({ kind }) => (kind === 'get' ? { shortBy: 900 } : undefined);
      expect(await pull()).toMatchObject({ status: 'failed' });
      const [part = ''] = await partsLeft();
      const { size } = await stat(join(data.landing, 'clicks/logs', part));
      bucket.takeReads();
      bucket.fault = ({ kind }) => (kind === 'get' ? { cutAfter: 0 } : undefined);
      expect(await pull()).toMatchObject({ status: 'failed' });
      expect(bucket.takeReads()[0]?.range).toBe(`bytes=${size}-999`);
      expect(await partsLeft()).toEqual([part]);
      bucket.clear();
      expect(await pull()).toMatchObject({ status: 'done' });
      expect(await partsLeft()).toEqual([]);
    },
  );

  it('is left to the next pull where it was put anew meanwhile, and nothing of the old one is kept', async () => {
    bucket.put('clicks/a.ndjson', large);
    bucket.put('clicks/b.ndjson', 'b\n');
    bucket.fault = ({ key }) => {
      if (key !== 'clicks/a.ndjson') return undefined;
      bucket.put('clicks/a.ndjson', 'new\n', { modified: '2026-11-18T11:00:00Z' });
      return undefined;
    };
    expect(await pull()).toMatchObject({ status: 'done', records: 1, left_out: { moved: 1 } });
    expect(await landed('clicks')).toEqual(['b\n']);
    bucket.fault = () => undefined;
    expect(await pull()).toMatchObject({ records: 1, left_out: {} });
    expect(await landed('clicks')).toEqual(['b\n', 'new\n']);
  });

  it('is left to the next pull also where the store knows no conditions', async () => {
    bucket.put('clicks/a.ndjson', 'old\n');
    bucket.fault = ({ kind }) => {
      if (kind === 'list') return undefined;
      bucket.put('clicks/a.ndjson', 'new\n');
      return { unconditional: true };
    };
    expect(await pull()).toMatchObject({ status: 'done', records: 0, left_out: { moved: 1 } });
    expect(await landed('clicks')).toEqual([]);
  });

  it('is asked for again where a body ends too soon without saying so', async () => {
    bucket.put('clicks/a.ndjson', 'a log\n');
    const faults = [{ shortBy: 2 }];
    bucket.fault = ({ kind }) => (kind === 'get' ? faults.pop() : undefined);
    expect(await pull()).toMatchObject({ status: 'done', records: 1 });
    expect(await landed('clicks')).toEqual(['a log\n']);
    expect(bucket.takeReads().map(({ range }) => range)).toEqual([undefined, 'bytes=4-5']);
  });

  it('goes on from what is on the disk for certain, whatever lies behind it', async () => {
    bucket.put('clicks/a.ndjson', large);
    bucket.fault = ({ kind }) => (kind === 'get' ? { shortBy: large.length - 1000 } : undefined);
    expect(await pull()).toMatchObject({ status: 'failed' });
    const [part = ''] = await partsLeft();
    const file = join(data.landing, 'clicks/logs', part);
    const { size } = await stat(file);
    await appendFile(file, Buffer.alloc(large.length, 'x'));
    bucket.takeReads();
    bucket.fault = () => undefined;
    expect(await pull()).toMatchObject({ status: 'done', records: 1 });
    expect(bucket.takeReads().map(({ range }) => range)).toEqual([`bytes=${size}-${large.length - 1}`]);
    expect(await landed('clicks')).toEqual([large.toString()]);
  });

  it('that is gone before it came whole leaves no part', async () => {
    bucket.put('clicks/a.ndjson', large);
    bucket.fault = ({ kind }) => (kind === 'get' ? { cutAfter: 100 } : undefined);
    expect(await pull()).toMatchObject({ status: 'failed' });
    expect(await partsLeft()).toHaveLength(1);
    bucket.remove('clicks/a.ndjson');
    expect(await pull()).toMatchObject({ status: 'done' });
    expect(await partsLeft()).toEqual([]);
  });

  it('that is refused keeps no other, and fails the pull', async () => {
    for (const name of ['a', 'b', 'c']) bucket.put(`clicks/${name}.ndjson`, `${name}\n`);
    bucket.fault = ({ key }) => (key === 'clicks/a.ndjson' ? { status: 403, code: 'AccessDenied' } : undefined);
    expect(await pull()).toMatchObject({
      status: 'failed',
      records: 2,
      error: expect.stringContaining('object clicks/a.ndjson of bucket logs: HTTP 403 AccessDenied'),
    });
    expect(await landed('clicks')).toEqual(['b\n', 'c\n']);
    bucket.fault = () => undefined;
    expect(await pull()).toMatchObject({ status: 'done', records: 1 });
  });

  it('is asked for no more once twenty others were refused', async () => {
    for (let index = 0; index < 200; index++) bucket.put(`clicks/${index}.ndjson`, 'x\n');
    bucket.fault = ({ kind }) => (kind === 'get' ? { status: 403, code: 'AccessDenied' } : undefined);
    expect(await pull()).toMatchObject({ status: 'failed', records: 0 });
    const reads = bucket.takeReads().length;
    expect(reads).toBeGreaterThan(20);
    expect(reads).toBeLessThan(30);
  });

  it.each([
    ['s3 object: renamed', 1],
    ['s3 objects: folder synced', 0],
    ['s3 objects: taken', 0],
  ])('lands once where a pull ends at "%s"', async (step, reads) => {
    bucket.put('clicks/a.ndjson', 'a1\n');
    expect(await pull(failingAt(step))).toMatchObject({ status: 'failed' });
    bucket.takeReads();
    expect(await pull()).toMatchObject({ status: 'done', records: 1 });
    expect(bucket.takeReads()).toHaveLength(reads);
    expect(await landed('clicks')).toEqual(['a1\n']);
    expect(await pull()).toMatchObject({ records: 0 });
  });

  it('comes over several pulls where it is more than one may fetch', async () => {
    bucket.put('clicks/a.ndjson', large);
    bucket.put('clicks/b.ndjson', 'b\n');
    bucket.put('offers/c.json', '[]');
    const most = 2 * syncEveryBytes;
    const first = await pullAtMost(most);
    expect(first).toMatchObject({ taken: 1, leftOut: { next_pull: 2 } });
    expect(await landed('offers')).toEqual(['[]']);
    expect(await pullAtMost(most)).toMatchObject({ taken: 2, leftOut: {} });
    expect(await landed('clicks')).toEqual([large.toString(), 'b\n']);
    const [offers, firstPart, ...others] = bucket.takeReads().map(({ range }) => range);
    expect([offers, firstPart]).toEqual([undefined, `bytes=0-${most - 3}`]);
    expect(new Set(others)).toEqual(new Set([`bytes=${most - 2}-${large.length - 1}`, undefined]));
  });
});

describe('a pull of a bucket', () => {
  it('waits and asks again where the store is busy', async () => {
    bucket.put('clicks/a.ndjson', 'a1\n');
    const answers = [
      { status: 503, code: 'SlowDown' },
      { status: 500, code: 'InternalError' },
    ];
    bucket.fault = () => answers.pop();
    expect(await pull()).toMatchObject({ status: 'done', records: 1 });
    expect(waits).toEqual([250, 500]);
    expect(logged).toContain('asking again: listing bucket logs: HTTP 500 InternalError');
    expect(logged).toContain('asking again: listing bucket logs: HTTP 503 SlowDown');
  });

  it('waits as long as the store asks, but no quarter of an hour', async () => {
    const answers = [
      { status: 503, code: 'SlowDown', retryAfter: '3600' },
      { status: 503, code: 'SlowDown', retryAfter: '120' },
    ];
    bucket.fault = () => answers.pop();
    expect(await pull()).toMatchObject({ status: 'failed', error: 'bucket logs: HTTP 503 SlowDown: SlowDown' });
    expect(waits).toEqual([120_000]);
  });

  it("finds keys where AWS's tools do, and takes them out of errors, too", async () => {
    await declare({ secrets: undefined });
    nowhereElse();
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIAOFTHEENVIRONMENT');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret-of-the-environment');
    bucket.put('clicks/a.ndjson', 'a1\n');
    expect(await pull()).toMatchObject({ status: 'done', records: 1 });
    expect(bucket.requests[0]?.authorization).toContain('AKIAOFTHEENVIRONMENT');
    const message = 'AKIAOFTHEENVIRONMENT secret-of-the-environment';
    bucket.fault = () => ({ status: 403, code: 'AccessDenied', message });
    expect(await pull()).toMatchObject({ error: expect.stringContaining('HTTP 403 AccessDenied: ••• •••; the key') });
  });

  it('says so where there are no keys at all', async () => {
    await declare({ secrets: undefined });
    nowhereElse();
    expect(await pull()).toMatchObject({
      status: 'failed',
      error: expect.stringMatching(/^bucket logs: CredentialsProviderError: .*; give access_key_id/),
    });
    expect(bucket.requests).toEqual([]);
  });

  it('fails with one plain line that holds no secret, however the store writes it', async () => {
    const { access_key_id: id, secret_access_key: key } = secrets;
    const message = `no ${key} ${encodeURIComponent(key)} ${Buffer.from(key).toString('base64')} of ${id}`;
    bucket.fault = () => ({ status: 403, code: 'SignatureDoesNotMatch', message });
    const pulled = await pull();
    expect(pulled).toMatchObject({
      status: 'failed',
      error:
        'bucket logs: HTTP 403 SignatureDoesNotMatch: no ••• ••• ••• of •••; see secret_access_key in "secrets", and the region',
    });
    expect(await checkSources({ data, terminal }, clock)).toMatchObject([{ error: pulled?.error }]);
    expect(logged).not.toContain(key);
    expect(logged).not.toContain(id);
    expect(logged).not.toContain('Signature=');
  });

  it('leaves no part of a key in an error that is cut within it', async () => {
    const { secret_access_key: key } = secrets;
    const message = `${'x'.repeat(295)}${key} is not known`;
    bucket.fault = () => ({ status: 403, code: 'SignatureDoesNotMatch', message });
    expect((await pull())?.error).toMatch(/x{295}•••/);
    expect(logged).not.toContain(key.slice(0, 5));
  });

  it('gives up where nobody answers', async () => {
    await declare({ base_url: 'http://127.0.0.1:1' });
    expect(await pull()).toMatchObject({
      status: 'failed',
      error: 'bucket logs: no whole answer: ECONNREFUSED',
    });
    expect(waits).toHaveLength(4);
  });

  it.each(['<html><body>Welcome</body></html>', '{"welcome": true}', ''])(
    'fails where something else answers: %s',
    async (page) => {
      const server = createServer((_request, response) => response.end(page));
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      onTestFinished(() => {
        server.close().closeAllConnections();
      });
      await declare({ base_url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
      expect(await pull()).toMatchObject({ status: 'failed', error: expect.stringContaining('base_url') });
    },
  );

  it('fails where the store gives its first page again and again, each under a new token', async () => {
    let listed = 0;
    const time = '<LastModified>2026-11-18T10:00:00Z</LastModified>';
    const objects = ['a', 'b'].map(
      (name) => `<Contents><Key>clicks/${name}.tmp</Key>${time}<ETag>"1"</ETag><Size>1</Size></Contents>`,
    );
    const server = createServer((_request, response) => {
      const more = `<IsTruncated>${++listed < 9}</IsTruncated><NextContinuationToken>${listed}</NextContinuationToken>`;
      response.end(`<ListBucketResult><Name>logs</Name>${more}${objects.join('')}</ListBucketResult>`);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      server.close().closeAllConnections();
    });
    await declare({ base_url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
    const error = expect.stringContaining('begins with the same key as the one before') as string;
    expect(await pull()).toMatchObject({ status: 'failed', pages: 1, error });
    expect(listed).toBe(2);
  });

  it('follows no redirect', async () => {
    bucket.fault = () => ({ status: 301, code: 'PermanentRedirect', message: 'use another endpoint' });
    expect(await pull()).toMatchObject({ error: expect.stringContaining('say which by "region"') });
    expect(bucket.requests.splice(0)).toHaveLength(1);
  });

  it('ends when it is asked to; what came stays', async () => {
    for (let index = 0; index < 20; index++) bucket.put(`clicks/${index}.ndjson`, `${index}\n`);
    const stop = new AbortController();
    bucket.fault = ({ key }) => void (key === 'clicks/19.ndjson' && stop.abort());
    expect(await pull(realEffects, stop.signal)).toMatchObject({ status: 'interrupted' });
    const before = (await landed('clicks')).length;
    expect(before).toBeGreaterThan(0);
    expect(before).toBeLessThan(20);
    bucket.takeReads();
    bucket.fault = () => undefined;
    expect(await pull()).toMatchObject({ status: 'done' });
    expect((await landed('clicks')).length).toBe(20);
    expect(await partsLeft()).toEqual([]);
  });

  it('is checked by one page of each list, and nothing is written', async () => {
    for (let index = 0; index < 1500; index++) bucket.put(`clicks/${index}.ndjson`, 'x');
    bucket.put('offers/a.json', '[]');
    bucket.put('offers/notes.md', 'x');
    expect(await checkSources({ data, terminal }, clock)).toEqual([
      {
        source: 'logs',
        total: null,
        records: 1001,
        new_records: 1001,
        first: 'offers/a.json, clicks/0.ndjson, clicks/1.ndjson',
        error: null,
      },
    ]);
    expect(bucket.takeReads()).toEqual([]);
    expect(await readdir(data.landing).catch(() => [])).toEqual([]);
  });
});

describe('the client', () => {
  it('is loaded by a pull of a bucket alone', slow, () => {
    const script = `
      import { registerHooks } from 'node:module';
      const seen = [];
      registerHooks({ resolve: (name, context, next) => {
        const found = next(name, context);
        seen.push(found.url);
        return found;
      } });
      const clients = () => seen.filter((url) => url.includes('@aws-sdk')).length;
      const { createProgram } = await import('./src/cli/program.ts');
      await createProgram({});
      await import('./pipelines/pull.ts');
      const before = clients();
      await import('@aws-sdk/client-s3');
      console.log(JSON.stringify({ before, loads: clients() > 0 }));`;
    const root = join(import.meta.dirname, '../../..');
    const told = execFileSync(process.execPath, ['--input-type=module', '-e', script], { cwd: root, encoding: 'utf8' });
    expect(JSON.parse(told)).toEqual({ before: 0, loads: true });
  });
});

describe('sources.json', () => {
  it.each([
    [{ s3: undefined }, 'go together'],
    [{ connector: 'tune', base_url: 'http://x', secrets: { api_key: 'k' } }, 'go together'],
    [{ s3: { bucket: 'logs' } }, 'names no prefix'],
    [{ s3: { bucket: 'a/b', clicks: '' } }, 'is not the name of a bucket'],
    [{ s3: { bucket: 'logs', clicks: 'a/', conversions: 'a/b/' } }, 'is within "clicks"'],
    [{ s3: { bucket: 'logs', clicks: 'a', region: 'Frankfurt!' } }, 'is not a region'],
    [{ s3: { bucket: 'logs', clicks: 'a', prefix: 'b' } }, 'has a key that nothing reads'],
    [{ secrets: { access_key_id: 'a' } }, 'go together'],
    [{ secrets: { ...secrets, api_key: 'x' } }, 's3 has no secret api_key'],
  ])('with %j is refused', async (other, why) => {
    await declare(other);
    expect(() => readSources(data)).toThrow(why);
    expect(() => readSources(data)).not.toThrow(secrets.secret_access_key);
  });
});

/** No keys but those that a test gives. */
function nowhereElse(): void {
  onTestFinished(() => void vi.unstubAllEnvs());
  for (const name of Object.keys(process.env).filter((each) => each.startsWith('AWS_'))) vi.stubEnv(name, undefined);
  vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true');
  vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', join(data.root, 'none'));
  vi.stubEnv('AWS_CONFIG_FILE', join(data.root, 'none'));
}

/** Effects that fail once a step is to be done. */
function failingAt(failing: string): Effects {
  const failed = () => Promise.reject(new Error('the disk is gone'));
  return {
    ...realEffects,
    files: {
      ...realEffects.files,
      rename: (from, to, step) => (step === failing ? failed() : realEffects.files.rename(from, to, step)),
      syncDirectory: (path, step) => (step === failing ? failed() : realEffects.files.syncDirectory(path, step)),
    },
    perform: (step, work) => (step === failing ? failed() : work()),
  };
}

/** A pull with less room than 2 GiB. */
async function pullAtMost(bytes: number): Promise<ObjectsPull | undefined> {
  using taken = new TakenObjects(data);
  let last: ObjectsPull | undefined;
  await pullObjects(
    {
      source: 'logs',
      settings: s3Schema.parse(lists),
      baseUrl: bucket.url,
      secrets,
      redactor: new Redactor(Object.values(secrets)),
      landing: data.landing,
      taken,
      effects: realEffects,
      onPage: (sum) => (last = sum),
    },
    { clock, signal: new AbortController().signal, redact: (text) => text, onRetry: () => undefined },
    bytes,
  );
  return last;
}
