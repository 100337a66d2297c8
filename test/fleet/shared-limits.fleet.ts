import { setTimeout } from 'node:timers/promises';
import { beforeEach, expect, test } from 'vitest';
import { RedisCounter, redisPatience } from '../../src/fleet/shared-limits/redis-counter.ts';
import { hour, minute, SlidingWindows } from '../../src/kit/http/sliding-windows.ts';
import { LimitServer, mostWithin, MovedClock, siteOf } from './limit-server.ts';
import { RedisServer } from './redis-server.ts';

const password = 'not-to-be-told-1234';
let redis: RedisServer;
let clock: MovedClock;
let servers: LimitServer[];

beforeEach(async () => {
  redis = await RedisServer.forTest({ password });
  clock = new MovedClock(redis);
  await clock.move(0);
  servers = [];
  for (let server = 0; server < 3; server++) servers.push(await LimitServer.forTest(redis, clock, 3));
});

const all = (inRedis: boolean) => Promise.all(servers.map((server) => server.counting(inRedis)));

/** So many requests at one server, together; returns how many were let in. */
async function burst(server: LimitServer, requests: number, limit: number): Promise<number> {
  const asked = Array.from({ length: requests }, () => server.ask(siteOf(limit)));
  return (await Promise.all(asked)).filter(({ allowed }) => allowed).length;
}

const [one, two, three] = [0, 1, 2].map((place) => () => servers[place] as LimitServer) as [
  () => LimitServer,
  () => LimitServer,
  () => LimitServer,
];

/** The same numbers for the same seed, 0 up to 1. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

test('the same answers as one server gives, whichever of three is asked', async () => {
  const alone = new SlidingWindows();
  const random = numbers(1);
  for (let request = 0; request < 600; request++) {
    await clock.move(Math.floor(random() * 3 * minute));
    const limit = request % 100 < 50 ? 20 : 7;
    const server = servers[Math.floor(random() * 3)] as LimitServer;
    const bucket = { name: 'b', limit, length: hour };
    const counts = random() < 0.8;
    const answer = await server.ask(siteOf(limit), counts);
    expect(answer).toEqual(counts ? alone.consume(bucket, clock.now) : alone.peek(bucket, clock.now));
  }
});

const requestsInAll = Number(process.env['OFFERLINE_FLEET_REQUESTS'] ?? 20_000);

test(`${requestsInAll} requests on three servers, which are killed in between: exactly the limit in any 60 minutes`, async () => {
  const limit = 100;
  const random = numbers(Number(process.env['SEED'] ?? 2));
  const letIn: number[] = [];
  let refusedThatFit = 0;
  for (let requests = 0; requests < requestsInAll;) {
    if (random() < 0.05) {
      const server = servers[Math.floor(random() * 3)] as LimitServer;
      server.end();
      await server.start();
    }
    await clock.move(Math.floor(random() * random() * 4 * minute));
    // Unevenly: one server gets most of it, another one each time.
    const bursts = servers.map((server) => [server, Math.floor(random() ** 3 * 90)] as const);
    const room = limit - letIn.filter((at) => clock.now - at < hour).length;
    const allowed = await Promise.all(bursts.map(([server, size]) => burst(server, size, limit)));
    const asked = bursts.reduce((sum, [, size]) => sum + size, 0);
    const entered = allowed.reduce((sum, count) => sum + count, 0);
    for (let count = 0; count < entered; count++) letIn.push(clock.now);
    refusedThatFit += Math.min(room, asked) - entered;
    requests += asked;
  }
  expect(refusedThatFit).toBe(0);
  expect(letIn.length).toBeGreaterThan(requestsInAll / 100);
  expect(mostWithin(letIn, hour)).toBe(limit);
});

test('Redis is away: each allows its share by its own counter, logged once; it is back: the limit again, logged once', async () => {
  expect(await burst(one(), 3, 12)).toBe(3);
  await redis.kill();
  await all(false);
  // A share is a third of twelve, less what the server itself has let in by Redis.
  expect(await Promise.all(servers.map((server) => burst(server, 20, 12)))).toEqual([1, 4, 4]);
  expect(await two().ask(siteOf(12))).toMatchObject({
    allowed: false,
    limit: 12,
    remaining: 0,
    freeAt: clock.now + hour,
  });
  await clock.move(hour, false);
  expect(await Promise.all(servers.map((server) => burst(server, 20, 12)))).toEqual([4, 4, 4]);
  await redis.start({ first: clock.command });
  await all(true);
  // Requests of the outage are not carried over.
  expect(await burst(three(), 20, 12)).toBe(12);
  for (const server of servers) {
    expect(server.log.map(({ msg }) => msg)).toEqual([
      expect.stringContaining('does not count the rate limits'),
      'Redis counts the rate limits again',
    ]);
  }
});

test('a server that starts while Redis is away remembers its own requests', async () => {
  expect(await burst(one(), 2, 12)).toBe(2);
  await redis.kill();
  await all(false);
  one().end();
  await one().start();
  expect(await burst(one(), 20, 12)).toBe(2);
  one().end();
  await one().start();
  expect(await burst(one(), 20, 12)).toBe(0);
  await clock.move(hour, false);
  expect(await burst(one(), 20, 12)).toBe(4);
});

test('a Redis that hangs holds a request up for no longer than promised, and others not at all', async () => {
  const asIs = await LimitServer.forTest(redis, clock, 3, redisPatience);
  redis.signal('SIGSTOP');
  const began = performance.now();
  expect(await burst(asIs, 20, 12)).toBe(4);
  expect(performance.now() - began).toBeLessThan(1000);
  expect(asIs.log[0]?.reason).toBe('no answer within 200 ms');
  expect(await burst(asIs, 20, 12)).toBe(0);
  redis.signal('SIGCONT');
  await asIs.counting(true);
  expect(await burst(two(), 20, 12)).toBeLessThanOrEqual(12);
});

test('a script that is gone from Redis does not matter', async () => {
  expect(await burst(one(), 7, 12)).toBe(7);
  expect(await redis.command('SCRIPT', 'FLUSH')).toBe('+OK');
  expect(await burst(two(), 20, 12)).toBe(5);
});

test('a Redis that only reads, as after a failover, is as good as none', async () => {
  expect(await redis.command('REPLICAOF', '127.0.0.1', '1')).toBe('+OK');
  expect(await burst(one(), 20, 12)).toBe(4);
  expect(one().log[0]?.reason).toContain('READONLY');
  expect(await redis.command('REPLICAOF', 'NO', 'ONE')).toBe('+OK');
  await all(true);
  expect(await burst(two(), 20, 12)).toBe(12);
});

test('failed identifications from one address count over all servers', async () => {
  const allowed = async (times: number) => {
    let count = 0;
    for (let attempt = 0; attempt < times; attempt++)
      if ((await (servers[attempt % 3] as LimitServer).limits.countFailure('203.0.113.9', clock.now)).allowed) count++;
    return count;
  };
  expect(await allowed(70)).toBe(60);
  expect((await one().limits.countFailure('203.0.113.10', clock.now)).allowed).toBe(true);
  await clock.move(minute);
  expect(await allowed(30)).toBe(30);
  await redis.kill();
  await all(false);
  // A third of sixty for each, of which ten are used.
  expect(await allowed(70)).toBe(30);
});

test('no log line has the password', async () => {
  await redis.command('CONFIG', 'SET', 'requirepass', 'another');
  one().end();
  await one().start();
  expect(one().log[0]?.reason).toContain('WRONGPASS');
  for (const server of servers) expect(JSON.stringify(server.log)).not.toContain(password);
});

test('a user who may run no script is said to count nothing once, not at each request', async () => {
  await redis.command('ACL', 'SETUSER', 'limits', 'on', `>${password}`, '~offerline:*', '+@all', '-@scripting');
  const address = redis.address.replace('//:', '//limits:');
  const lost: string[] = [];
  const options = {
    address,
    clock: clock.lua,
    onLost: (reason: string) => lost.push(reason),
    onBack: () => lost.push('back'),
  };
  const counter = await RedisCounter.open(options);
  for (let request = 0; request < 3; request++) {
    expect(await counter.count('site', { name: 's', limit: 10, length: hour }, String(request))).toBeUndefined();
    // Longer than until it is tried again.
    await setTimeout(600);
  }
  counter.close();
  expect(lost).toEqual([expect.stringContaining('NOPERM')]);
});

test('servers that have reported within a minute are counted', async () => {
  const options = { address: redis.address, clock: clock.lua, onLost: () => undefined, onBack: () => undefined };
  const counter = await RedisCounter.open(options);
  expect([await counter.countServers('a'), await counter.countServers('b'), await counter.countServers('a')]).toEqual([
    1, 2, 2,
  ]);
  await clock.move(minute / 2);
  expect(await counter.countServers('a')).toBe(2);
  await clock.move(minute / 2 + 1);
  expect(await counter.countServers('a')).toBe(1);
  counter.close();
});
