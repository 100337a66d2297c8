import { beforeEach, expect, test } from 'vitest';
import { hour, minute } from '../../src/kit/http/sliding-windows.ts';
import { SlidingWindows } from '../../src/kit/http/sliding-windows.ts';
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

/**
 * So many requests at all servers, over days, while they and Redis are killed in between. Returns when each was let in,
 * and of the rounds without trouble how many should have been let in and were.
 */
async function livesOf(requestsInAll: number, limit: number) {
  const random = numbers(Number(process.env['SEED'] ?? 2));
  const letIn: number[] = [];
  let requests = 0;
  let redisIsThere = true;
  /** Since Redis is back some may still be on their way. */
  let areComingBack = false;
  let faults = 0;
  let exactFrom = clock.now;
  const exactRounds: { fitting: number; letIn: number }[] = [];
  const losses = () => 0;
  while (requests < requestsInAll) {
    // A third of the time without faults: there not one request may be refused that would fit.
    const faulty = requests > requestsInAll / 3;
    const luck = faulty ? random() : 1;
    if (luck < 0.02) {
      faults++;
      if (redisIsThere) {
        await redis.kill();
        await all(false);
      } else {
        // Only what all had heard of can be brought back by whoever comes first.
        await redis.start({ forget: random() < 0.5 && !areComingBack, first: clock.command });
        // One comes back after the other, as it happens.
        await (servers[Math.floor(random() * 3)] as LimitServer).counting(true);
        areComingBack = true;
      }
      redisIsThere = !redisIsThere;
    } else if (luck < 0.05) {
      faults++;
      const server = servers[Math.floor(random() * 3)] as LimitServer;
      server.end();
      await server.start();
    } else if (luck < 0.3) areComingBack = false;
    const lossesBefore = losses();
    // One that lost a Redis that was only slow for once is back before ten seconds pass, as long as seconds are seconds:
    // also one that lost it while they were moved.
    if (redisIsThere && !areComingBack) await all(true);
    await clock.move(Math.floor(random() * random() * 4 * minute), redisIsThere);
    if (redisIsThere && !areComingBack) await all(true);
    // What a server asked while the clocks were moved, one after the other, told it a wrong difference between them.
    await Promise.all(servers.map((server) => server.ask(siteOf(limit), false)));
    // Unevenly: one server gets most of it, another one each time.
    const bursts = servers.map((server) => [server, Math.floor(random() ** 3 * 90)] as const);
    for (const [, size] of bursts) requests += size;
    const before = letIn.length;
    await Promise.all(
      bursts.map(async ([server, size]) => {
        const { now } = clock;
        for (let allowed = await burst(server, size, limit); allowed > 0; allowed--) letIn.push(now);
      }),
    );
    // A Redis that was slow for once may have counted what was refused, and who lost it before decided alone here.
    if (losses() > lossesBefore) exactFrom = clock.now + hour;
    if (faulty || clock.now < exactFrom) continue;
    const room = limit - letIn.slice(0, before).filter((at) => clock.now - at < hour).length;
    const asked = bursts.reduce((sum, [, size]) => sum + size, 0);
    exactRounds.push({ fitting: Math.min(room, asked), letIn: letIn.length - before });
  }
  return { letIn, faults, exactRounds };
}

const requestsInAll = Number(process.env['OFFERLINE_FLEET_REQUESTS'] ?? 20_000);

test(`${requestsInAll} requests on three servers, which are killed in between as Redis is: never more than the limit in any 60 minutes`, async () => {
  const { letIn, faults, exactRounds } = await livesOf(requestsInAll, 100);
  expect(exactRounds.length).toBeGreaterThan(requestsInAll / 1000);
  expect(exactRounds.filter((round) => round.letIn !== round.fitting)).toEqual([]);
  expect(faults).toBeGreaterThan(requestsInAll / 5000);
  expect(letIn.length).toBeGreaterThan(requestsInAll / 100);
  expect(mostWithin(letIn, hour)).toBe(100);
});

test('Redis is lost: each allows its part of what is left, said once; it is back: the whole limit again, said once', async () => {
  expect(await burst(one(), 3, 12)).toBe(3);
  await redis.kill();
  await all(false);
  // Of twelve three are used up: a third of nine for each, whoever used them.
  expect(await Promise.all(servers.map((server) => burst(server, 20, 12)))).toEqual([3, 3, 3]);
  expect(await two().ask(siteOf(12))).toMatchObject({
    allowed: false,
    limit: 12,
    remaining: 0,
    freeAt: clock.now + hour,
  });
  await clock.move(hour, false);
  expect(await Promise.all(servers.map((server) => burst(server, 20, 12)))).toEqual([4, 4, 4]);
  await redis.start({ forget: true, first: clock.command });
  await all(true);
  expect(await burst(three(), 5, 12)).toBe(0);
  await clock.move(hour);
  expect(await burst(three(), 20, 12)).toBe(12);
  for (const server of servers) {
    expect(server.log.map(({ msg }) => msg)).toEqual([
      expect.stringContaining('does not count the rate limits'),
      'Redis counts the rate limits again',
    ]);
  }
});

test('while servers have not come back their parts are kept for them, and no longer than a window', async () => {
  await redis.kill();
  await all(false);
  for (const server of [two(), three()]) server.end();
  await redis.start({ forget: true, first: clock.command });
  await one().counting(true);
  expect(await burst(one(), 20, 12)).toBe(4);
  await two().start();
  expect(await burst(two(), 20, 12)).toBe(4);
  await clock.move(hour + 1);
  expect(await burst(one(), 20, 12)).toBe(12);
});

test('a server that is killed while Redis counts keeps its part for ten seconds, and no longer', async () => {
  expect(await burst(three(), 1, 12)).toBe(1);
  three().end();
  await clock.move(1);
  expect(await burst(one(), 20, 12)).toBe(7);
  await clock.move(10_000);
  expect(await burst(one(), 20, 12)).toBe(4);
});

test('a server that starts while Redis is away knows by its journal what all had counted', async () => {
  expect(await burst(one(), 2, 12)).toBe(2);
  expect((await three().ask(siteOf(12), false)).remaining).toBe(10);
  await redis.kill();
  await all(false);
  three().end();
  await three().start();
  // The others may let in four each by what they know.
  expect(await burst(three(), 20, 12)).toBe(2);
  three().end();
  await three().start();
  expect(await burst(three(), 20, 12)).toBe(0);
  await clock.move(hour, false);
  expect(await burst(three(), 20, 12)).toBe(4);
});

test('a Redis that hangs holds a request up for no longer than told, and others not at all', async () => {
  redis.signal('SIGSTOP');
  const began = performance.now();
  expect(await burst(one(), 20, 12)).toBe(4);
  expect(performance.now() - began).toBeLessThan(1000);
  expect(one().log[0]?.reason).toBe('no answer within 200 ms');
  expect(await burst(one(), 20, 12)).toBe(0);
  redis.signal('SIGCONT');
  await one().counting(true);
  expect(await burst(two(), 20, 12)).toBeLessThanOrEqual(8);
});

test('counts that are gone while the connection stays are told again, and a script that is gone is sent again', async () => {
  expect(await burst(one(), 7, 12)).toBe(7);
  expect(await redis.command('SCRIPT', 'FLUSH')).toBe('+OK');
  expect(await burst(two(), 2, 12)).toBe(2);
  expect(await redis.command('FLUSHALL')).toBe('+OK');
  await clock.move(0);
  // Whoever asks first notices, and decides about its part.
  expect(await burst(one(), 20, 12)).toBe(1);
  // The others may have noticed since, when they looked by themselves.
  await all(true);
  expect(await burst(two(), 20, 12)).toBe(2);
});

test('a Redis that only reads, as after a failover, is as good as none', async () => {
  expect(await redis.command('REPLICAOF', '127.0.0.1', '1')).toBe('+OK');
  expect(await burst(one(), 20, 12)).toBe(4);
  expect(one().log[0]?.reason).toContain('READONLY');
  expect(await redis.command('REPLICAOF', 'NO', 'ONE')).toBe('+OK');
  // The others have lost it, too, where they looked meanwhile.
  await all(true);
  expect(await burst(two(), 20, 12)).toBe(8);
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
  expect(await allowed(70)).toBe(30);
});

test('the password is told nowhere', async () => {
  await redis.command('CONFIG', 'SET', 'requirepass', 'another');
  one().end();
  await one().start();
  expect(one().log[0]?.reason).toContain('WRONGPASS');
  for (const server of servers) expect(JSON.stringify(server.log)).not.toContain(password);
});
