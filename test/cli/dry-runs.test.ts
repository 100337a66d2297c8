import { copyFile, readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { planRefresh } from '../../pipelines/plans/plan-refresh.ts';
import { UsageError } from '../../src/kit/errors/errors.ts';
import { realEffects } from '../../src/kit/files/effects.ts';
import { createLogger } from '../../src/kit/logging/log.ts';
import { noProgress } from '../../src/kit/logging/progress.ts';
import { SqliteStore } from '../../src/postbacks/store/sqlite-store.ts';
import { command } from '../support/commands.ts';
import { outboxRow } from '../support/deliveries.ts';
import { PipelineUnderTest } from '../support/pipeline-under-test.ts';
import { sharedPipeline } from '../support/shared-pipeline.ts';
import { asOf, clicks, smallData } from '../e2e/small-data.ts';
import { slow } from '../support/slow.ts';

const silent = { logger: createLogger({ write: () => true }, 'silent'), progress: noProgress };
const later = '2025-03-10T13:00:00Z';
const offer = (number: number) => ({ id: number, external_id: `x${number}`, title: `Offer ${number}`, payout: '1.5' });
const offers = (count: number) => Array.from({ length: count }, (_, index) => offer(index + 1));

/** Twelve offers of which a held export has four, and a conversion of one that it lacks. */
const withHeldExport = sharedPipeline(async () => {
  const pipeline = await PipelineUnderTest.create(new Date(asOf), {
    sites: [{ site_key: 's', site_secret: 'a-secret-of-the-first-site' }],
  });
  await pipeline.landOffers('net', offers(12));
  await pipeline.landLog(
    'clicks',
    'ndjson',
    [3, 9, 9].map((offer_id, index) => ({
      click_id: `k${index}`,
      offer_id,
      site_key: 's',
      user_id: 'u',
      clicked_at: '2025-03-10T09:30:00Z',
    })),
  );
  await pipeline.landLog('conversions', 'csv', [
    { conversion_id: 'v1', click_id: 'k1', kind: 'credit', occurred_at: '2025-03-10T10:00:00Z', payout: '0.1' },
    { conversion_id: 'v2', click_id: 'k2', kind: 'credit', occurred_at: '2025-03-10T10:00:00Z', payout: '0.2' },
  ]);
  await pipeline.refresh(asOf);
  await pipeline.landOffers('net', offers(4));
  await pipeline.refresh(later);
  return pipeline;
});

const json = async (pipeline: PipelineUnderTest, ...words: string[]): Promise<any> =>
  JSON.parse(await command(pipeline.data.root, ...words, '--json'));

/** Every file of these folders with its digest. */
async function contentOf(...folders: string[]): Promise<string[]> {
  const found = folders.map(async (folder) => {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    return Promise.all(
      files.map(
        async (file) =>
          `${file} ${createHash('sha256')
            .update(await readFile(file))
            .digest('hex')}`,
      ),
    );
  });
  return (await Promise.all(found)).flat().toSorted();
}

describe('offers accept --dry-run', () => {
  it('names the offers that would go, those that earned most first, and changes nothing', slow, async () => {
    const pipeline = await withHeldExport();
    const [held] = (await json(pipeline, 'offers', 'held')).held as { fileId: number }[];
    const fileId = String(held?.fileId);
    const plan = await json(pipeline, 'offers', 'accept', fileId, '--dry-run');
    expect(plan).toMatchObject({
      dry_run: true,
      held: { fileId: held?.fileId, source: 'net', reason: 'would_remove 8 of 12' },
      removes: 8,
      active: 12,
      as_of: later,
      earnings: '0.3',
    });
    expect(plan.offers.map(({ offer_id }: { offer_id: number }) => offer_id)).toEqual([9, 5, 6, 7, 8, 10, 11, 12]);
    expect(plan.offers[0]).toMatchObject({ external_id: 'x9', clicks: 2, conversions: 2, status: 'active' });
    expect(await command(pipeline.data.root, 'offers', 'accept', fileId, '--dry-run')).toContain(
      `they earned 0.3 USD in the window as of ${later}`,
    );
    expect((await json(pipeline, 'offers', 'held')).held).toHaveLength(1);

    // What it named is what goes.
    await command(pipeline.data.root, 'offers', 'accept', fileId);
    await pipeline.refresh('2025-03-10T14:00:00Z');
    expect(await pipeline.ask('SELECT offer_id FROM offers WHERE removed_at IS NOT NULL ORDER BY offer_id')).toEqual(
      [5, 6, 7, 8, 9, 10, 11, 12].map((offer_id) => ({ offer_id })),
    );
  });

  it('says so where the file has changed since, is gone, or is not held', slow, async () => {
    const pipeline = await withHeldExport();
    const [held] = (await json(pipeline, 'offers', 'held')).held as { fileId: number; path: string }[];
    const ask = () => command(pipeline.data.root, 'offers', 'accept', String(held?.fileId), '--dry-run');
    await writeFile(join(pipeline.data.landing, held?.path ?? ''), `${JSON.stringify(offer(1))}\n`);
    await expect(ask()).rejects.toThrow('has changed since it was held');
    await expect(command(pipeline.data.root, 'offers', 'accept', '77', '--dry-run')).rejects.toThrow(UsageError);
  });
});

describe('run refresh --dry-run', () => {
  it('names the files that would be read and why, and changes nothing', slow, async () => {
    await using pipeline = await smallData();
    const ask = () => json(pipeline, 'run', 'refresh', '--dry-run', '--as-of', later);
    expect((await ask()).files.map(({ path, why }: Record<string, string>) => [path, why])).toEqual([
      ['clicks/0002.ndjson', 'new'],
      ['conversions/0003.csv', 'new'],
      ['offers/net/0001.ndjson', 'new'],
    ]);
    await pipeline.refresh(asOf);
    const { data } = pipeline;
    await pipeline.landLog('clicks', 'ndjson', clicks('second', 3, '2025-03-10T10:30:00Z'));
    await writeFile(join(data.landing, 'clicks/0002.ndjson'), 'changed\n');
    const before = await contentOf(data.landing, data.published, data.events, data.marts);
    const plan = await ask();
    expect(plan).toMatchObject({ dry_run: true, as_of: later, published: { as_of: asOf }, reports_due: 0 });
    const shown = plan.files.filter(({ path }: { path: string }) => path.startsWith('clicks/'));
    expect(shown.map(({ path, why }: Record<string, string>) => [path, why])).toEqual([
      ['clicks/0002.ndjson', 'changed'],
      ['clicks/0004.ndjson', 'new'],
    ]);
    expect(await contentOf(data.landing, data.published, data.events, data.marts)).toEqual(before);
    expect((await json(pipeline, 'runs')).runs).toHaveLength(1);
    await expect(command(data.root, 'run', 'refresh', '--dry-run', '--as-of', '2025-03-10T11:00:00Z')).rejects.toThrow(
      '--allow-older',
    );
  });
});

describe('run refresh --dry-run, as to how many files there are,', () => {
  it('counts what the run will: no copy, no file only touched, no unfinished CSV', slow, async () => {
    await using pipeline = await smallData();
    const { landing } = pipeline.data;
    await pipeline.landOffers('eu', [{ external_id: 'e', title: 'E', payout: '1', currency: 'EUR' }]);
    const now = new Date(later);
    const planned = async () => {
      const request = { data: pipeline.data, terminal: silent, asOf: later };
      const { files, bytes, left_out } = await planRefresh(request, { ...realEffects, now: () => now.getTime() });
      return {
        files: files.map(({ path }) => path),
        bytes,
        left_out: left_out.map(({ path, why }) => `${path} ${why}`),
      };
    };
    const old = new Date(asOf);
    const copy = (from: string, to: string) => copyFile(join(landing, from), join(landing, to));
    await copy('clicks/0002.ndjson', 'clicks/copy.ndjson');
    expect(await planned()).toMatchObject({
      files: ['clicks/0002.ndjson', 'conversions/0003.csv', 'offers/eu/0004.ndjson', 'offers/net/0001.ndjson'],
      left_out: ['clicks/copy.ndjson its bytes are those of clicks/0002.ndjson'],
    });
    expect((await pipeline.refresh(asOf)).ingested.files).toBe(4);

    await copy('clicks/0002.ndjson', 'clicks/again.ndjson');
    await copy('offers/net/0001.ndjson', 'offers/net/again.ndjson');
    for (const touched of ['clicks/0002.ndjson', 'offers/net/0001.ndjson'])
      await utimes(join(landing, touched), old, old);
    const twin = (await readFile(join(landing, 'clicks/0002.ndjson'), 'utf8')).replace('first-0', 'other-0');
    await writeFile(join(landing, 'clicks/other.ndjson'), twin);
    for (const [name, changed] of [
      ['growing', now],
      ['ended', old],
    ] as const) {
      await writeFile(join(landing, `conversions/${name}.csv`), `conversion_id,click_id,kind,occurred_at\n${name}`);
      await utimes(join(landing, `conversions/${name}.csv`), changed, changed);
    }
    const plan = await planned();
    expect(plan).toMatchObject({
      files: ['clicks/other.ndjson', 'conversions/ended.csv', 'offers/net/again.ndjson'],
      left_out: ['clicks/again.ndjson its bytes count already', 'conversions/growing.csv its last line has no end yet'],
    });
    expect(plan.bytes).toBeGreaterThan(twin.length);
    expect((await pipeline.refresh(later)).ingested.files).toBe(plan.files.length);
    // Whether or not the clock's grain tells whether they have changed since.
    await pipeline.configure({ rates: { EUR: '1.1' } });
    expect((await planned()).files).toEqual(['offers/eu/0004.ndjson']);
    expect((await pipeline.refresh(later)).ingested).toMatchObject({ files: 0, readAgain: 1 });
  });
});

describe('postbacks --dry-run', () => {
  it('of test says where it would go, without what may be secret', async () => {
    await using pipeline = await PipelineUnderTest.create(new Date(asOf), {
      sites: [
        {
          site_key: 's',
          site_secret: 'a-secret-of-the-first-site',
          postback: { url: 'https://partner.example:8443/in?token=hidden&c={click_id}' },
        },
      ],
    });
    expect(await json(pipeline, 'postbacks', 'test', 's', '--dry-run')).toEqual({
      dry_run: true,
      site_key: 's',
      site_status: 'active',
      method: 'GET',
      host: 'partner.example:8443',
    });
    await expect(command(pipeline.data.root, 'postbacks', 'test', 'none', '--dry-run')).rejects.toThrow('no site none');
  });

  it('of retry tells by site how many and which, beyond any page', async () => {
    await using pipeline = await PipelineUnderTest.create(new Date(asOf));
    const store = SqliteStore.open(pipeline.data);
    await store.importOutbox(
      'warehouse',
      Array.from({ length: 350 }, (_, index) => outboxRow(index + 1, { siteKey: index < 310 ? 's' : 't' })),
    );
    store.database.write(() =>
      store.database.prepare(`UPDATE postbacks SET state = 'dead' WHERE webhook_id <> 'w1'`).run(),
    );
    await store.close();
    const retry = (...words: string[]) => json(pipeline, 'postbacks', 'retry', ...words);
    const plan = await retry('--all', '--dry-run');
    expect(plan).toMatchObject({
      revived: 349,
      dry_run: true,
      sites: [
        { site_key: 's', postbacks: 309 },
        { site_key: 't', postbacks: 40 },
      ],
    });
    const ids = Array.from({ length: 40 }, (_, index) => `w${311 + index}\n`);
    expect(plan.sites[1].ids_sha256).toBe(createHash('sha256').update(ids.join('')).digest('hex'));
    expect(await retry('--site', 's')).toEqual({ revived: 309, dry_run: false });
    expect((await json(pipeline, 'postbacks', 'list', '--state', 'dead')).count).toBe(40);
  });
});

describe('sources pull --dry-run', () => {
  it('says which would be asked for what, and which cannot, and asks nobody', async () => {
    await using pipeline = await PipelineUnderTest.create(new Date(asOf));
    await writeFile(
      pipeline.data.sourcesFile,
      JSON.stringify({
        sources: [
          {
            source: 'one',
            connector: 'tune',
            base_url: 'http://127.0.0.1:9',
            secrets: { NetworkId: 'n', api_key: 'k' },
          },
        ],
      }),
      { mode: 0o600 },
    );
    const { sources } = await json(pipeline, 'sources', 'pull', '--dry-run');
    expect(sources).toMatchObject([
      { source: 'one', connector: 'tune', host: '127.0.0.1:9', last_pull: null, error: null },
    ]);
    expect(await readdir(pipeline.data.landing)).toEqual([]);
    await expect(command(pipeline.data.root, 'sources', 'pull', 'none', '--dry-run')).rejects.toThrow('no source none');
  });
});
