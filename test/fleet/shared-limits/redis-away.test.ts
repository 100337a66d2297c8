import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import type { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { temporaryData, writeSites } from '../../support/published-snapshot.ts';
import { serviceForTest } from '../../support/running-service.ts';
import { publishSmallNetwork } from '../../support/small-network.ts';

const offers = '/c/api/v1/offers?site_key=s&site_secret=a-long-enough-secret';
const start = Date.UTC(2026, 10, 20, 12, 30);
let data: DataDirectory;
let now: number;

beforeEach(async () => {
  const temporary = await temporaryData();
  data = temporary.data;
  onTestFinished(temporary.remove);
  await publishSmallNetwork(data);
  await writeSites(data, [{ site_key: 's', site_secret: 'a-long-enough-secret', rate_limit_per_hour: 10 }]);
  now = start;
});

/** What answers each connection like this, with a password in its address. */
async function addressOf(reply: string | undefined): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', () => socket.end(reply ?? ''));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  if (reply === undefined) server.close();
  else onTestFinished(() => void server.close());
  return `redis://:hidden-word@127.0.0.1:${port}`;
}

const service = (redis: string) => serviceForTest(data, { limits: { redis, servers: 3 } }, () => now);

test('where Redis is not there each server allows its part, by its own counter, and logs it once', async () => {
  const redis = await addressOf(undefined);
  const running = await service(redis);
  const left: string[] = [];
  const ask = async (asked = running) => {
    const { status, headers } = await asked.get(offers);
    left.push([status, ...['limit', 'remaining'].map((name) => headers.get(`x-ratelimit-${name}`))].join(' '));
    return headers;
  };
  for (let request = 0; request < 3; request++) await ask();
  expect((await ask()).get('retry-after')).toBe('3600');
  expect(left).toEqual(['200 10 2', '200 10 1', '200 10 0', '429 10 0']);
  const metrics = await (await running.get('/metrics')).text();
  expect(metrics).toContain('\nofferline_limits_shared 0\n');
  expect(metrics).not.toContain('hidden-word');
  const told = running.log.filter(({ msg }) => msg.includes('Redis'));
  expect(told).toEqual([expect.objectContaining({ level: 50, reason: expect.stringContaining('ECONNREFUSED') })]);
  expect(JSON.stringify(running.log)).not.toContain('hidden-word');
  await running.service.close();

  now += 600_000;
  const restarted = await service(redis);
  left.length = 0;
  expect((await ask(restarted)).get('retry-after')).toBe('3000');
  now = start + 3_600_000;
  await ask(restarted);
  expect(left).toEqual(['429 10 0', '200 10 2']);
});

test('failed identifications have their share, too', async () => {
  const running = await service(await addressOf(undefined));
  const wrong = (attempt: number) => running.get(`/c/api/v1/offers?site_key=s&site_secret=guess-${attempt}`);
  for (let attempt = 0; attempt < 20; attempt++) expect((await wrong(attempt)).status).toBe(401);
  expect((await wrong(20)).status).toBe(429);
  expect((await running.get(offers)).status).toBe(200);
});

test.each([
  ['-LOADING Redis is loading the dataset in memory\r\n', 'LOADING'],
  ['-NOAUTH hidden-word\r\n', 'NOAUTH •••'],
])('one that answers %j is as good as none', async (reply, reason) => {
  const running = await service(await addressOf(reply));
  expect((await running.get(offers)).status).toBe(200);
  expect(running.log.filter(({ msg }) => msg.includes('Redis')).map((line) => line['reason'])).toEqual([
    expect.stringContaining(reason),
  ]);
});

test('what cannot be an address is refused without telling it', async () => {
  const file = join(data.root, 'redis-address');
  await writeFile(file, 'hidden-word\n');
  const opening = serviceForTest(data, { limits: { redis: { file }, servers: 1 } }, () => now);
  const refused =
    'limits.redis: what it refers to is not an address such as redis://host:6379/0; a % in it is written %25';
  await expect(opening).rejects.toThrow(refused);
  await writeFile(file, 'redis://:50%off@127.0.0.1:6379/0\n');
  const bare = serviceForTest(data, { limits: { redis: { file }, servers: 1 } }, () => now);
  await expect(bare).rejects.toThrow(refused);
  const missing = serviceForTest(data, { limits: { redis: { env: 'NOT_SET_ANYWHERE' }, servers: 1 } }, () => now);
  await expect(missing).rejects.toThrow('limits.redis: the environment has no NOT_SET_ANYWHERE');
});

test('requests that a service counted alone count for one that shares, and the other way round', async () => {
  const alone = await serviceForTest(data, {}, () => now);
  await alone.get(offers);
  await alone.get(offers);
  await alone.service.close();
  const sharing = await service(await addressOf(undefined));
  expect((await sharing.get(offers)).headers.get('x-ratelimit-remaining')).toBe('0');
  await sharing.service.close();
  const again = await serviceForTest(data, {}, () => now);
  expect((await again.get(offers)).headers.get('x-ratelimit-remaining')).toBe('6');
});
