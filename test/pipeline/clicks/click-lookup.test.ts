import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { refresh } from '../../../pipelines/refresh.ts';
import { SnapshotClicks } from '../../../src/pipeline/clicks/snapshot-clicks.ts';
import { SnapshotConnections } from '../../../src/pipeline/clicks/snapshot-connections.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { noProgress } from '../../../src/kit/logging/progress.ts';
import { analyticsDatabase, clickTables } from '../../support/analytics-database.ts';
import { feedOffer, makeCurrent, temporaryData, writeSites, writeSnapshot } from '../../support/published-snapshot.ts';
import { serviceForTest } from '../../support/running-service.ts';
import { slow } from '../../support/slow.ts';

const lookup = '/a/api/click-lookup?site_key=wall&click_id=c1';
const wall = { site_key: 'wall', site_secret: 'a-long-enough-secret', variant: 'A', commission: 0.1 };

test('a click is found in what the pipeline publishes, and new events come with the next snapshot', slow, async () => {
  const { data, remove } = await temporaryData();
  onTestFinished(remove);
  const land = async (path: string, ...rows: object[]) => {
    await mkdir(join(data.landing, path, '..'), { recursive: true });
    await writeFile(join(data.landing, path), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  };
  const run = (asOf: string) =>
    refresh({ data, terminal: { logger: createLogger({ write: () => true }, 'silent'), progress: noProgress }, asOf });
  await writeSites(data, [wall, { ...wall, site_key: 'other' }]);
  await land('offers/net/catalog.ndjson', {
    id: 7,
    external_id: 'e',
    title: { de: 'Spiel', en: 'Game' },
    description: '',
    payout: '2.5',
  });
  const click = {
    source: 'net',
    external_id: 'e',
    site_key: 'wall',
    user_id: 'u',
    clicked_at: '2026-11-20T08:00:00.5Z',
    country: 'DE',
    device: 'ios',
    sub1: 's',
  };
  await land('clicks/a.ndjson', { ...click, click_id: 'c1' }, { ...click, click_id: 'c2', site_key: 'other' });
  await run('2026-11-20T09:00:00Z');
  const running = await serviceForTest(data);
  const shown = {
    click_id: 'c1',
    offer_id: 7,
    offer_title: 'Game',
    user_id: 'u',
    site_key: 'wall',
    clicked_at: '2026-11-20T08:00:00.500000+00:00',
    country: 'DE',
    device: 'ios',
    sub1: 's',
    sub2: null,
  };
  expect(await running.json(lookup)).toStrictEqual({ success: true, click: shown, conversions: [], postbacks: [] });
  expect((await running.get(lookup.replace('c1', 'c2'))).status).toBe(404);
  await land(
    'conversions/a.ndjson',
    { conversion_id: 'v', click_id: 'c1', kind: 'credit', occurred_at: '2026-11-20T09:30:00Z' },
    { conversion_id: 'v', click_id: 'c1', kind: 'chargeback', occurred_at: '2026-11-20T09:45:00Z', reason: 'fraud' },
  );
  await run('2026-11-20T10:00:00Z');
  await running.service.poll();
  expect(await running.json(lookup)).toStrictEqual({
    success: true,
    click: shown,
    conversions: [
      {
        conversion_id: 'v',
        event_id: null,
        status: 'charged_back',
        payout: 2.25,
        credited_at: '2026-11-20T09:30:00+00:00',
        reversed_at: '2026-11-20T09:45:00+00:00',
        reason: 'fraud',
      },
    ],
    postbacks: [],
  });
  // The snapshot that is not served any more is let go of: a run may retire it.
  expect(await running.json('/readyz')).toMatchObject({ as_of: '2026-11-20T10:00:00Z' });
});

test('lookups go on while snapshots are switched', slow, async () => {
  const { data, remove } = await temporaryData();
  onTestFinished(remove);
  await writeSites(data, [wall]);
  const publish = async (id: string) => {
    const database = await analyticsDatabase(
      ...clickTables,
      `INSERT INTO clicks (click_id, site_key, user_id, clicked_at) VALUES ('c1', 'wall', '${id}', '2026-11-20 08:00:00Z')`,
    );
    await writeSnapshot(data, id, { offers: [feedOffer({ id: 1 })], files: { 'analytics.duckdb': database } });
    await makeCurrent(data, id);
  };
  await publish('snapshot-0');
  const running = await serviceForTest(data);
  const switching = new AbortController();
  const users = new Set<string>();
  const ask = async () => {
    const answer = await running.get(lookup);
    const { click } = (await answer.json()) as { click: { user_id: string } };
    expect(click.user_id).toBe(answer.headers.get('x-snapshot-id'));
    users.add(click.user_id);
  };
  const asking = [1, 2, 3].map(async () => {
    // A limit of 600 a minute leaves room for a hundred and fifty each.
    for (let request = 0; request < 150 && !switching.signal.aborted; request++) await ask();
  });
  for (let number = 1; number <= 5; number++) {
    await publish(`snapshot-${number}`);
    await running.service.poll();
    await ask();
  }
  switching.abort();
  await Promise.all(asking);
  expect([...users]).toEqual(
    expect.arrayContaining(['snapshot-1', 'snapshot-2', 'snapshot-3', 'snapshot-4', 'snapshot-5']),
  );
});

test('a database that cannot be opened is our failure, reported in the variant’s form', async () => {
  const { data, remove } = await temporaryData();
  onTestFinished(remove);
  await writeSites(data, [wall]);
  await writeSnapshot(data, 'one', { offers: [] });
  await makeCurrent(data, 'one');
  const running = await serviceForTest(data);
  for (let time = 0; time < 2; time++) {
    expect(await running.json(lookup, 500)).toStrictEqual({
      title: 'Internal error',
      status: 500,
      detail: expect.any(String),
    });
  }
  expect(await running.json('/a/api/offers?site_key=wall&user_id=u&format=PTC')).toMatchObject({ total: 0 });
});

test('a snapshot that cannot be used once its database is open is let go of', async (context) => {
  if (!existsSync('/proc/self/fd')) context.skip('only Linux shows which files are open');
  const { data, remove } = await temporaryData();
  onTestFinished(remove);
  const files = { 'analytics.duckdb': await analyticsDatabase(...clickTables) };
  const folder = await writeSnapshot(data, 'one', { offers: [], files });
  await rm(join(folder, 'manifest.json'));
  const connections = new SnapshotConnections(folder);
  for (let time = 0; time < 2; time++) await expect(connections.hold()).rejects.toThrow('manifest.json');
  const open = readdirSync('/proc/self/fd').flatMap((number) => {
    try {
      return readlinkSync(`/proc/self/fd/${number}`);
    } catch {
      // The one that listed them.
      return [];
    }
  });
  expect(open.filter((path) => path.startsWith(folder))).toEqual([]);
});

test('lookups beyond those that may wait are refused at once, and the others are answered', async () => {
  const { data, remove } = await temporaryData();
  onTestFinished(remove);
  const database = await analyticsDatabase(
    ...clickTables,
    `INSERT INTO clicks (click_id, site_key, user_id, clicked_at) VALUES ('c1', 'wall', 'u', '2026-11-20 08:00:00Z')`,
  );
  const connections = new SnapshotConnections(
    await writeSnapshot(data, 'one', { offers: [], files: { 'analytics.duckdb': database } }),
  );
  const clicks = new SnapshotClicks(connections);
  const outcomes = await Promise.allSettled(Array.from({ length: 150 }, () => clicks.find('c1', 'wall')));
  const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []));
  expect(refused).toHaveLength(48);
  expect(refused[0]).toMatchObject({ kind: 'unavailable' });
  expect(await clicks.find('c1', 'wall')).toMatchObject({ click: { user_id: 'u' } });
  await connections.retire();
});
