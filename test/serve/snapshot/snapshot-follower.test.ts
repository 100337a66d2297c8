import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { Agent, get } from 'node:http';
import { join } from 'node:path';
import { pino } from 'pino';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import type { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { SnapshotFollower } from '../../../src/serve/snapshot/snapshot-follower.ts';
import {
  feedOffer,
  flipBit,
  makeCurrent,
  temporaryData,
  writeSites,
  writeSnapshot,
} from '../../support/published-snapshot.ts';
import { serviceForTest, startService } from '../../support/running-service.ts';
import type { RunningService } from '../../support/running-service.ts';
import { slow } from '../../support/slow.ts';

const now = () => Date.UTC(2026, 10, 20, 12, 30);
let data: DataDirectory;
const path = '/c/api/v1/offers?site_key=s&site_secret=a-long-enough-secret';

beforeEach(async () => {
  const temporary = await temporaryData();
  data = temporary.data;
  onTestFinished(temporary.remove);
  await writeSites(data, [{ site_key: 's', site_secret: 'a-long-enough-secret', rate_limit_per_hour: 1_000_000 }]);
});

/** Writes a snapshot whose only offer has the snapshot's name for a title. */
async function publish(id: string, damage?: (folder: string) => Promise<void>): Promise<void> {
  const folder = await writeSnapshot(data, id, { offers: [feedOffer({ id: 1, titles: { en: id } })] });
  await damage?.(folder);
  await makeCurrent(data, id);
}

async function servedTitle(running: RunningService): Promise<string> {
  const { offers } = await running.json(path);
  return offers[0].title;
}

const complaints = ({ log }: RunningService) => log.filter(({ level }) => level >= 50);
const flipOffers = (folder: string) => flipBit(join(folder, 'feed-offers.ndjson'));

test('a new snapshot is picked up without a restart', async () => {
  await publish('2026-a');
  const running = await serviceForTest(data);
  expect(await servedTitle(running)).toBe('2026-a');
  await publish('2026-b');
  await running.service.poll();
  const response = await running.get(path);
  expect(response.headers.get('x-snapshot-id')).toBe('2026-b');
  expect(await response.json()).toMatchObject({ offers: [{ title: '2026-b' }] });
  expect(await running.json('/readyz')).toMatchObject({ snapshot_id: '2026-b' });
  expect(complaints(running)).toEqual([]);
});

test('another snapshot under the same name is picked up, too', async () => {
  await publish('2026-a');
  const running = await serviceForTest(data);
  expect(await servedTitle(running)).toBe('2026-a');
  await rm(join(data.published, '2026-a'), { recursive: true });
  await running.service.poll();
  expect(await servedTitle(running)).toBe('2026-a');
  await writeSnapshot(data, '2026-a', { offers: [feedOffer({ id: 1, titles: { en: 'another' } })] });
  await running.service.poll();
  expect(await servedTitle(running)).toBe('another');
  expect(complaints(running)).toEqual([]);
});

test('the old snapshot stays until the new one is prepared, and where it cannot be', async () => {
  await publish('2026-a');
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
  const { promise: goneOn, resolve: goOn } = Promise.withResolvers<void>();
  const follower = new SnapshotFollower(
    data,
    pino({ level: 'silent' }),
    undefined,
    async ({ id }) => {
      if (id === '2026-b') {
        reach();
        await goneOn;
      }
      if (id === '2026-c') throw new Error('an offer that no text can be made of');
    },
    now,
  );
  onTestFinished(() => follower.close());
  await follower.start();
  await publish('2026-b');
  const polling = follower.poll();
  await reached;
  expect(follower.serving?.id).toBe('2026-a');
  goOn();
  await polling;
  expect(follower.serving?.id).toBe('2026-b');
  await publish('2026-c');
  await follower.poll();
  expect(follower.serving?.id).toBe('2026-b');
});

test('a first snapshot that cannot be prepared gives way to an older one', async () => {
  for (const id of ['2026-a', '2026-b']) await publish(id);
  const follower = new SnapshotFollower(
    data,
    pino({ level: 'silent' }),
    undefined,
    async ({ id }) => {
      if (listening && id === '2026-b') throw new Error('an offer that no text can be made of');
    },
    now,
  );
  onTestFinished(() => follower.close());
  let listening = false;
  await follower.start();
  expect(follower.serving?.id).toBe('2026-b');
  listening = true;
  await follower.prepareServing();
  expect(follower.serving?.id).toBe('2026-a');
  await follower.poll();
  expect(follower.serving?.id).toBe('2026-a');
});

test('no request fails or mixes snapshots while they are switched', slow, async () => {
  await publish('snapshot-00');
  const running = await serviceForTest(data);
  const agent = new Agent({ keepAlive: true });
  onTestFinished(() => agent.destroy());
  const seen = new Set<string>();
  const switching = new AbortController();
  async function askAgainAndAgain(): Promise<void> {
    while (!switching.signal.aborted) {
      const { status, id, body } = await ask(agent, running.address + path);
      expect(status).toBe(200);
      expect(JSON.parse(body).offers[0].title).toBe(id);
      seen.add(id);
    }
  }
  const clients = Promise.all([1, 2, 3, 4].map(askAgainAndAgain));
  for (let number = 1; number <= 20; number++) {
    const id = `snapshot-${String(number).padStart(2, '0')}`;
    await publish(id);
    await running.service.poll();
    // Old snapshots go, as retention would have it: what is served does not need their files any more.
    await rm(join(data.published, `snapshot-${String(number - 1).padStart(2, '0')}`), { recursive: true });
    const { id: next } = await ask(agent, running.address + path);
    expect(next).toBe(id);
  }
  switching.abort();
  await clients;
  expect(seen.size).toBeGreaterThan(10);
});

function ask(agent: Agent, address: string): Promise<{ status: number | undefined; id: string; body: string }> {
  return new Promise((resolve, reject) => {
    get(address, { agent }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode, id: String(response.headers['x-snapshot-id']), body }),
      );
    }).on('error', reject);
  });
}

test('a snapshot with a flipped byte is never served: the last good one stays, and is said to once', async () => {
  await publish('2026-a');
  const running = await serviceForTest(data);
  await publish('2026-b', flipOffers);
  await running.service.poll();
  await running.service.poll();
  expect(await servedTitle(running)).toBe('2026-a');
  expect(complaints(running)).toMatchObject([
    {
      snapshot_id: '2026-b',
      reason: expect.stringContaining('feed-offers.ndjson'),
      msg: expect.stringContaining('2026-a stays'),
    },
  ]);
  await publish('2026-c');
  await running.service.poll();
  expect(await servedTitle(running)).toBe('2026-c');
});

test.each<[string, (folder: string) => Promise<void>]>([
  ['a database that was written to', (folder) => flipBit(join(folder, 'analytics.duckdb'))],
  ['a missing file', (folder) => rm(join(folder, 'feed-sites.json'))],
  ['a write-ahead log', (folder) => writeFile(join(folder, 'analytics.duckdb.wal'), 'x')],
  ['no manifest', (folder) => rm(join(folder, 'manifest.json'))],
  ['no folder', (folder) => rm(folder, { recursive: true })],
])('at a restart, with %s in the current snapshot, the newest older whole one is served', async (_what, damage) => {
  await publish('2026-a');
  await publish('2026-b');
  await publish('2026-c', flipOffers);
  await publish('2026-d', damage);
  await mkdir(join(data.published, '2026-b2.tmp'));
  const running = await serviceForTest(data);
  expect(await servedTitle(running)).toBe('2026-b');
  expect(complaints(running).map(({ snapshot_id }) => snapshot_id)).toEqual(['2026-d', '2026-c']);
  await running.service.poll();
  expect(await servedTitle(running)).toBe('2026-b');
});

test('at a restart, one as of a time that is yet to come is served only where no other one is whole', async () => {
  await publish('2026-a');
  await writeSnapshot(data, '2026-b', { asOf: '2027-01-01T00:00:00Z', offers: [] });
  await publish('2026-c', flipOffers);
  const running = await startService(data);
  expect(await servedTitle(running)).toBe('2026-a');
  await running.service.close();
  await flipOffers(join(data.published, '2026-a'));
  const again = await serviceForTest(data);
  expect(await again.json('/readyz', 503)).toMatchObject({
    snapshot_id: '2026-b',
    reason: expect.stringContaining('ahead'),
  });
});

test('a copy of another snapshot under a new name is refused', async () => {
  await publish('2026-a');
  const running = await serviceForTest(data);
  await writeSnapshot(data, '2026-b', { offers: [] });
  await symlink('2026-b', join(data.published, '2026-c'));
  await makeCurrent(data, '2026-c');
  await running.service.poll();
  expect(await servedTitle(running)).toBe('2026-a');
});

test('an operator can move the link back to an older snapshot', async () => {
  await publish('2026-a');
  await publish('2026-b');
  const running = await serviceForTest(data);
  await makeCurrent(data, '2026-a');
  await running.service.poll();
  expect(await servedTitle(running)).toBe('2026-a');
});

test('without any snapshot the service is up and not ready, until one appears', async () => {
  const running = await serviceForTest(data);
  expect(await running.json('/healthz')).toEqual({ status: 'ok' });
  for (const check of ['/readyz', '/servez'])
    expect(await running.json(check, 503)).toMatchObject({ status: 'unavailable' });
  expect(await running.json(path, 503)).toStrictEqual({
    success: false,
    error: { code: 'SERVICE_UNAVAILABLE', message: expect.any(String) },
  });
  expect(await running.json(path.replace('/c/', '/b/'), 503)).toStrictEqual({
    error: 'service_unavailable',
    message: expect.any(String),
  });
  expect(await running.json('/c/api/v1/offers?site_key=s&site_secret=wrong', 401)).toMatchObject({ success: false });
  expect((await running.get(path)).headers.get('x-snapshot-id')).toBeNull();
  await publish('2026-a');
  await running.service.poll();
  expect(await servedTitle(running)).toBe('2026-a');
  expect((await running.get('/readyz')).status).toBe(200);
});

test('a link that is no link is complained about once', async () => {
  const running = await serviceForTest(data);
  await mkdir(data.current);
  await running.service.poll();
  await running.service.poll();
  expect(complaints(running)).toHaveLength(1);
});

test('prepared pages go with their snapshot, and belong to one site each', async () => {
  await writeSites(data, [
    { site_key: 's', site_secret: 'a-long-enough-secret' },
    { site_key: 't', site_secret: 'another-good-secret', commission: 0.5 },
  ]);
  await publish('2026-a');
  const running = await serviceForTest(data);
  const other = '/c/api/v1/offers?site_key=t&site_secret=another-good-secret';
  for (let time = 0; time < 2; time++) {
    expect(await running.json(path)).toMatchObject({
      offers: [{ payout: 1, tracking_url: expect.stringMatching(/\/site\/s$/) }],
    });
    expect(await running.json(other)).toMatchObject({
      offers: [{ payout: 0.5, tracking_url: expect.stringMatching(/\/site\/t$/) }],
    });
  }
  expect(await running.json(`${path}&min_payout=1`)).toMatchObject({ total: 1 });
  expect(await running.json(`${other}&min_payout=1`)).toMatchObject({ total: 0 });
});
