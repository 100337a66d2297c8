import { DuckDBInstance } from '@duckdb/node-api';
import { existsSync } from 'node:fs';
import { open, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { DataDirectory } from '../../src/kit/config/data-directory.ts';
import { queryRows } from '../../src/kit/duckdb/dialect/rows.ts';
import { PipelineUnderTest } from '../support/pipeline-under-test.ts';
import { killedRefresh } from './lives/killed-refresh.ts';
import { differences, publishedTables } from './lives/published-tables.ts';
import { slow } from '../support/slow.ts';

/** As-ofs of the two refreshes of the history and of the one that the tests are about. */
const moments = ['2025-03-10T10:00:00Z', '2025-03-10T11:00:00Z', '2025-03-10T12:00:00Z'] as const;
const wallClock = Date.parse('2025-03-20T00:00:00Z');
const sites = [{ site_key: 's', site_secret: 'a-secret-of-a-site', commission: 0.2 }];
const offer = (external_id: string, payout: string) => ({
  external_id,
  title: `Offer ${external_id}`,
  payout,
  destination_url: 'https://advertiser.example/land',
});
const click = (click_id: string, external_id: string, clicked_at: string) => ({
  click_id,
  source: 'net',
  external_id,
  site_key: 's',
  user_id: 'u',
  clicked_at,
});
const credit = (click_id: string, occurred_at: string) => ({
  conversion_id: `v-${click_id}`,
  click_id,
  kind: 'credit',
  occurred_at,
});

let pipeline: PipelineUnderTest;
let data: DataDirectory;
/** To two refreshes and the files of a third that have landed; to the same after that was killed with its figures. */
let backToLanded: () => Promise<void>;
let backToKilled: () => Promise<void>;
/** What the third should publish. */
let expected: Map<string, string[]>;

beforeAll(async () => {
  pipeline = await PipelineUnderTest.create(new Date(wallClock), { sites });
  data = pipeline.data;
  await pipeline.landOffers('net', [offer('b', '1'), offer('c', '2')]);
  await pipeline.landLog(
    'clicks',
    'ndjson',
    ['c1', 'c2', 'c3'].map((id) => click(id, 'b', '2025-03-10T09:00:00Z')),
  );
  await pipeline.refresh(moments[0]);
  // In the order of names alone, `a` would have got the first id.
  await pipeline.landOffers('net', [offer('a', '3'), offer('b', '1.5'), offer('c', '2')]);
  await pipeline.landLog('conversions', 'ndjson', [
    credit('c1', '2025-03-10T09:30:00Z'),
    credit('unknown', '2025-03-10T09:40:00Z'),
  ]);
  await pipeline.refresh(moments[1]);
  await pipeline.landLog('clicks', 'ndjson', [
    click('c4', 'a', '2025-03-10T11:30:00Z'),
    click('unknown', 'c', '2025-03-10T09:10:00Z'),
    { click_id: 'bad' },
  ]);
  backToLanded = await pipeline.keep();
  const step = { step: 'models: committed', moment: 'after', occurrence: 1 } as const;
  const { signal, told } = await killedRefresh({
    pipeline: 'refresh',
    root: data.root,
    asOf: moments[2],
    wallClock,
    killAt: step,
  });
  if (signal !== 'SIGKILL') throw new Error(`the refresh to be killed ended by itself: ${told}`);
  backToKilled = await pipeline.keep();
  await pipeline.refresh(moments[2]);
  expected = await publishedTables(data);
});
afterAll(() => pipeline[Symbol.asyncDispose]());

async function invert(path: string, at: number, length = 1): Promise<void> {
  const file = await open(path, 'r+');
  try {
    const bytes = Buffer.alloc(length);
    await file.read(bytes, 0, length, at);
    await file.write(
      bytes.map((byte) => byte ^ 0xff),
      0,
      length,
      at,
    );
  } finally {
    await file.close();
  }
}

/**
 * Blocks of the closed state that hold a table's values; they are read when the table is, not when the file is opened.
 */
async function blocksOf(table: string): Promise<number[]> {
  const instance = await DuckDBInstance.create(data.stateFile, { access_mode: 'READ_ONLY' });
  const connection = await instance.connect();
  try {
    const rows = await queryRows<{ block: number }>(
      connection,
      `SELECT DISTINCT block_id AS block FROM pragma_storage_info('${table}') WHERE block_id >= 0`,
    );
    return rows.map(({ block }) => block);
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

async function zero(path: string, from: number): Promise<void> {
  const file = await open(path, 'r+');
  try {
    await file.write(Buffer.alloc((await file.stat()).size - from), 0, undefined, from);
  } finally {
    await file.close();
  }
}

async function asideReasons(): Promise<string[]> {
  const folders = await readdir(data.quarantine).catch(() => []);
  return Promise.all(folders.map((folder) => readFile(join(data.quarantine, folder, 'reason.txt'), 'utf8')));
}

it.each<[what: string, told: RegExp, damage: () => Promise<void>]>([
  [
    'a log whose end is zeros',
    /WAL/,
    async () => zero(`${data.stateFile}.wal`, Math.floor((await stat(`${data.stateFile}.wal`)).size * 0.6)),
  ],
  ['a flipped byte in the head of the state', /checksum/, () => invert(data.stateFile, 9000)],
])('after %s the next run publishes what it would have published', slow, async (_, told, damage) => {
  await backToKilled();
  await damage();
  await pipeline.refresh(moments[2]);
  expect(differences(expected, await publishedTables(data))).toEqual([]);
  expect(await asideReasons()).toEqual([expect.stringMatching(told) as string]);
});

it('a damaged block in the middle of a run fails it plainly; the next run goes on from the copy', slow, async () => {
  await backToLanded();
  for (const block of await blocksOf('ingest_files')) await invert(data.stateFile, 3 * 4096 + block * 262_144 + 5000);
  const current = await readdir(data.published);
  await expect(pipeline.refresh(moments[2])).rejects.toThrow(/damaged; nothing of this run was kept. Run again/);
  expect(await readdir(data.published)).toEqual(current);
  await pipeline.refresh(moments[2]);
  expect(existsSync(data.damageNote)).toBe(false);
  expect(await asideReasons()).toEqual([expect.stringContaining('checksum') as string]);
  expect(differences(expected, await publishedTables(data))).toEqual([]);
});

it('without any copy, ids and history come from the snapshot, the rest from the landing folder', slow, async () => {
  await backToLanded();
  await rm(data.warehouse, { recursive: true });
  const [firstCatalog = ''] = (await readdir(join(data.landing, 'offers', 'net'))).toSorted();
  await rm(join(data.landing, 'offers', 'net', firstCatalog));
  await pipeline.refresh(moments[2]);
  const found = await publishedTables(data);
  // The catalog that is no longer there has no row in the new ledger.
  expect(found.get('ingest_files')).toHaveLength((expected.get('ingest_files')?.length ?? 0) - 1);
  // Which news made a report outdated is told by runs, and here one run brings all of it.
  const others = ['ingest_files', 'report_days'];
  const numbers = /"file_id":\d+,?/g;
  const same = (tables: Map<string, string[]>) =>
    new Map(
      [...tables]
        .filter(([table]) => !others.includes(table))
        .map(([table, rows]) => [table, rows.map((row) => row.replaceAll(numbers, '')).toSorted()]),
    );
  expect(differences(same(expected), same(found))).toEqual([]);
});
