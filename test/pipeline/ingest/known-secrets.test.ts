import { link, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { endOf } from '../../support/commands.ts';
import { readAnalytics } from '../../../src/pipeline/snapshot/read-analytics.ts';
import { openStateDatabase } from '../../../src/pipeline/warehouse/database.ts';
import { PipelineUnderTest } from '../../support/pipeline-under-test.ts';
import { slow } from '../../support/slow.ts';

const secrets = {
  site: 'the-secret-of-a-site',
  before: 'the-one-before-"it/ü',
  network: 'key of a network',
  token: 'token-of-an-advertiser',
  kept: 'kept-in-a-file-of-its-own',
  password: 'password-of-the-store',
  postback: 'TOPSECRETTOKEN123',
  shorter: 'pub.example/hook/shorter-one',
  fallback: 'user-of-the-fallback',
};
const sites = [
  { site_key: 's', site_secret: secrets.site, previous_site_secret: secrets.before, name: 'S' },
  {
    site_key: 'p',
    site_secret: 'of-its-own',
    postback: { url: `https://pub.example/pb?key=${secrets.postback}&u={user_id}` },
    fallback_url: `https://${secrets.fallback}@pub.example/`,
  },
  { site_key: 'h', site_secret: 'of-its-own', postback: { url: `https://${secrets.shorter}?u={user_id}` } },
];

async function network(): Promise<PipelineUnderTest> {
  const pipeline = await PipelineUnderTest.create(new Date(), { sites });
  onTestFinished(() => pipeline[Symbol.asyncDispose]());
  const { data } = pipeline;
  const file = join(data.root, 'kept.txt');
  await writeFile(file, `${secrets.kept}\n`);
  const sources = [
    {
      source: 'net',
      connector: 'everflow',
      secrets: { api_key: secrets.network, other: { file } },
      postback: { token: secrets.token, signature: { scheme: 'offerline', secret: { env: 'NOT_THERE' } } },
    },
  ];
  await writeFile(data.sourcesFile, JSON.stringify({ sources }), { mode: 0o600 });
  return pipeline;
}

/** The configuration under names of landing files of all kinds, each with bytes of its own; gives how many. */
async function landConfiguration({ data }: PipelineUnderTest): Promise<number> {
  let count = 0;
  const [sitesText, sourcesText] = [await readFile(data.sitesFile, 'utf8'), await readFile(data.sourcesFile, 'utf8')];
  const pretty = JSON.stringify(JSON.parse(sitesText), null, 2);
  // As PHP and Go write them.
  const foreign = sitesText.replaceAll('/', '\\/').replaceAll('&', '\\u0026');
  for (const folder of ['clicks', 'conversions', 'offers/net']) {
    await mkdir(join(data.landing, folder), { recursive: true });
    for (const extension of ['json', 'ndjson', 'csv'])
      for (const text of [sitesText, sourcesText, pretty, foreign])
        await writeFile(join(data.landing, folder, `copy-${++count}.${extension}`), text + '\n'.repeat(count));
    await link(data.sitesFile, join(data.landing, folder, 'linked.json'));
    count++;
  }
  return count;
}

/** Texts of any table that hold one of the secrets, in any spelling. */
async function found({ data }: PipelineUnderTest): Promise<string[]> {
  const texts = await readAnalytics(data.current, async (query) => {
    const columns = await query<{ place: string; sql: string }>(
      `SELECT table_name || '.' || column_name AS place, format('SELECT "{}"::VARCHAR AS text FROM "{}"', column_name, table_name) AS sql
       FROM duckdb_columns() WHERE NOT internal ORDER BY ALL`,
    );
    const all: string[] = [];
    for (const { place, sql } of columns)
      for (const { text } of await query<{ text: string | null }>(sql)) all.push(`${place}: ${text}`);
    return all;
  });
  return texts.filter(holdsSecret);
}

function holdsSecret(text: string): boolean {
  return Object.values(secrets).some((secret) =>
    [secret, secret.replaceAll('/', '\\/'), JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)].some(
      (form) => text.includes(form),
    ),
  );
}

it('a configuration that lands under any name leaves none of its secrets anywhere', slow, async () => {
  const pipeline = await network();
  const landed = await landConfiguration(pipeline);
  const { code, stdout, stderr } = await endOf(pipeline.data.root, 'run', 'refresh', '--json');
  expect(code).toBe(0);
  expect((stdout + stderr).split('\n').filter(holdsSecret)).toEqual([]);
  expect(stderr).toMatch(
    /"files":\d+,"first":\["[^\]]*copy-[^\]]*\],"msg":"landing files hold secrets of the configuration: .*change the secrets/,
  );
  expect(await pipeline.ask(`SELECT count(*) = ${landed} AS all_told FROM ingest_files`)).toEqual([{ all_told: true }]);
  expect(await found(pipeline)).toEqual([]);
  const kept = await pipeline.ask<{ raw: string }>(`SELECT raw FROM rejects WHERE raw LIKE '%site_secret%'`);
  expect(kept).toContainEqual({ raw: expect.stringContaining('"site_secret":"•••"') as string });
  for (const { raw } of kept) expect(raw).toContain('•••');
});

it('secrets that become known later leave what was kept, and then what is published', slow, async () => {
  const pipeline = await network();
  await pipeline.landLog('clicks', 'ndjson', [{ click_id: 'c', note: 'the-secret-to-come' }, { click_id: 'other' }]);
  const raws = async () =>
    (await pipeline.ask<{ raw: string }>('SELECT raw FROM rejects ORDER BY line')).map(({ raw }) => raw);
  const other = '{"click_id":"other"}';
  await pipeline.refresh('2026-03-10T09:00:00Z');
  expect(await raws()).toEqual(['{"click_id":"c","note":"the-secret-to-come"}', other]);
  const { current } = await pipeline.snapshots();
  await writeFile(
    pipeline.data.sitesFile,
    JSON.stringify({ sites: [...sites, { site_key: 'new', site_secret: 'the-secret-to-come' }] }),
  );
  await pipeline.refresh('2026-03-10T09:00:00Z');
  expect((await pipeline.snapshots()).current).not.toBe(current);
  expect(await raws()).toEqual(['{"click_id":"c","note":"•••"}', other]);
  expect((await pipeline.refresh('2026-03-10T09:00:00Z')).snapshotId).toBeNull();
});

it('a broken sources.json stops no ingest; its secrets are taken out once it is read', slow, async () => {
  const pipeline = await network();
  const good = await readFile(pipeline.data.sourcesFile, 'utf8');
  await pipeline.landLog('clicks', 'ndjson', [{ click_id: secrets.token }]);
  await writeFile(pipeline.data.sourcesFile, good.slice(1), { mode: 0o600 });
  await pipeline.refresh('2026-03-10T09:00:00Z');
  expect(await found(pipeline)).toHaveLength(1);
  await writeFile(pipeline.data.sourcesFile, good, { mode: 0o600 });
  await pipeline.refresh('2026-03-10T09:00:00Z');
  expect(await found(pipeline)).toEqual([]);
});

it('of a row that is cut within a secret its beginning is taken out', slow, async () => {
  const pipeline = await network();
  const room = 2000 - '{"click_id":"'.length - '","x":"'.length - 10;
  await pipeline.landLog('clicks', 'ndjson', [
    { click_id: 'c'.repeat(room), x: secrets.site },
    {
      click_id: 'c1',
      offer_id: 1,
      site_key: 's',
      user_id: 'u',
      clicked_at: '2026-03-10T08:00:00Z',
      [secrets.network]: 1,
    },
  ]);
  await pipeline.configure({
    postbacks: { store: undefined },
    limits: { redis: `redis://:${secrets.password}@host` },
  });
  await pipeline.landLog('conversions', 'ndjson', [{ conversion_id: secrets.password }]);
  await pipeline.refresh('2026-03-10T09:00:00Z');
  const [cut, whole] = await pipeline.ask<{ raw: string }>('SELECT raw FROM rejects ORDER BY raw_length DESC');
  expect(cut?.raw.slice(-20)).toBe(`${'c'.repeat(10)}","x":"•••`);
  expect(whole?.raw).toBe('{"conversion_id":"•••"}');
  expect(await pipeline.ask('SELECT field FROM ingest_warnings')).toContainEqual({ field: '•••' });
});

it('of an address for postbacks its long values are taken out, no host and no macro', slow, async () => {
  const pipeline = await network();
  const rows = [
    { click_id: 'c', note: `asked https://elsewhere.example/?key=${secrets.postback}` },
    { click_id: 'd', note: 'https://pub.example/game?key={user_id}' },
  ];
  await pipeline.landLog('clicks', 'ndjson', rows);
  await pipeline.refresh('2026-03-10T09:00:00Z');
  expect(await pipeline.ask('SELECT raw FROM rejects ORDER BY line')).toEqual([
    { raw: '{"click_id":"c","note":"asked https://elsewhere.example/?key=•••"}' },
    { raw: JSON.stringify(rows[1]) },
  ]);
});

/** Changes the raw text of all rejects behind the runs' back by `sql`; gives what it is then. */
async function keptRaws({ data }: PipelineUnderTest, sql = 'raw'): Promise<string[]> {
  const state = await openStateDatabase(data, { duckdb: {} });
  try {
    await state.connection.run(`UPDATE rejects SET raw = ${sql}`);
    return (await state.connection.runAndReadAll('SELECT raw FROM rejects ORDER BY ALL')).getRows().flat().map(String);
  } finally {
    await state.close();
  }
}

it('runs with and without the variables of secrets take turns, and nothing is read twice', slow, async () => {
  const pipeline = await network();
  const inTurn = async (...secretsThere: boolean[]) => {
    for (const isThere of secretsThere) {
      vi.stubEnv('NOT_THERE', isThere ? 'secret-of-the-environment' : undefined);
      await pipeline.ingest('2026-03-10T09:00:00Z');
    }
  };
  onTestFinished(() => void vi.unstubAllEnvs());
  await pipeline.landLog('clicks', 'ndjson', [{ click_id: 'a' }]);
  await inTurn(true);
  const marked = [`{"click_id":"a"}${secrets.site}`];
  expect(await keptRaws(pipeline, `raw || '${secrets.site}'`)).toEqual(marked);
  await inTurn(false, true, false, true);
  expect(await keptRaws(pipeline)).toEqual(marked);

  // What one without the secret keeps the next one with it goes through.
  await pipeline.landLog('conversions', 'ndjson', [{ conversion_id: 'secret-of-the-environment' }]);
  await inTurn(false);
  expect(await keptRaws(pipeline)).toContain('{"conversion_id":"secret-of-the-environment"}');
  await inTurn(true);
  expect(await keptRaws(pipeline)).toEqual(['{"click_id":"a"}•••', '{"conversion_id":"•••"}']);
});
