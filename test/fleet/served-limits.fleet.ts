import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { DataDirectory } from '../../src/kit/config/data-directory.ts';
import { launcher } from '../support/command-line.ts';
import { temporaryData, writeSites } from '../support/published-snapshot.ts';
import { publishSmallNetwork } from '../support/small-network.ts';
import { RedisServer } from './redis-server.ts';

const password = 'not-to-be-told-5678';
const limit = 6000;

/** `offerline serve` as a process of its own, over its own data directory and the same snapshot as the others. */
class ServeProcess {
  readonly #data: DataDirectory;
  readonly #redis: RedisServer;
  #child: ChildProcess | undefined;
  address = '';
  output = '';

  private constructor(data: DataDirectory, redis: RedisServer) {
    this.#data = data;
    this.#redis = redis;
  }

  static async forTest(redis: RedisServer): Promise<ServeProcess> {
    const { data, remove } = await temporaryData();
    const server = new ServeProcess(data, redis);
    onTestFinished(async () => {
      await server.kill();
      await remove();
    });
    await publishSmallNetwork(data);
    await writeSites(data, [{ site_key: 's', site_secret: 'a-long-enough-secret', rate_limit_per_hour: limit }]);
    await writeFile(
      data.settingsFile,
      JSON.stringify({ limits: { redis: { env: 'LIMITS_REDIS' }, servers: 3 }, lock_wait_seconds: 5 }),
    );
    await server.start();
    return server;
  }

  async start(): Promise<void> {
    const child = spawn(launcher.executable, [...launcher.words, 'serve', '--port', '0', '--json'], {
      env: { ...process.env, OFFERLINE_DATA: this.#data.root, LIMITS_REDIS: this.#redis.address },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    let begun = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        begun += text;
        this.output += text;
      });
    await vi.waitFor(
      () => {
        const found = /"address":\s*"([^"]+)"/.exec(begun)?.[1];
        if (found === undefined) throw new Error(`it does not listen yet: ${begun}`);
        this.address = found;
      },
      { timeout: 30_000 },
    );
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.signalCode !== null || child.exitCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  }

  /** The status of one more request, or that nobody answered it. */
  async ask(): Promise<number | 'no answer'> {
    try {
      const answer = await fetch(`${this.address}/c/api/v1/offers?limit=1&site_key=s&site_secret=a-long-enough-secret`);
      await answer.arrayBuffer();
      return answer.status;
    } catch {
      return 'no answer';
    }
  }

  async metrics(): Promise<string> {
    return (await fetch(`${this.address}/metrics`)).text();
  }
}

test('three services in processes of their own, killed in between as Redis is: never more than the limit by Redis, nor than the shares without it', async () => {
  const redis = await RedisServer.forTest({ password });
  const servers = await Promise.all([1, 2, 3].map(() => ServeProcess.forTest(redis)));
  const [one, two, three] = servers as [ServeProcess, ServeProcess, ServeProcess];
  const statuses = new Map<number | 'no answer', number>();

  /** So many requests, thirty at a time, at some of the servers in turn; what is done when half of them are asked. */
  async function traffic(requests: number, some: ServeProcess[], halfway?: () => Promise<void>): Promise<void> {
    let asked = 0;
    let doing: Promise<void> | undefined;
    const client = async () => {
      while (asked < requests) {
        const server = some[asked++ % some.length] as ServeProcess;
        if (asked * 2 >= requests) doing ??= halfway?.();
        const status = await server.ask();
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    };
    await Promise.all(Array.from({ length: 30 }, client));
    await doing;
  }
  const count = async (inRedis: 0 | 1) => {
    for (const server of servers)
      await vi.waitFor(async () => expect(await server.metrics()).toContain(`\nofferline_limits_shared ${inRedis}\n`), {
        timeout: 20_000,
      });
  };

  const letIn = () => statuses.get(200) ?? 0;

  await count(1);
  await traffic(1200, servers, () => three.kill());
  await traffic(600, [one, two], () => three.start());
  const beforeOutage = letIn();
  await redis.kill();
  // The first request after it notices that it is gone.
  await traffic(30, servers);
  await count(0);
  await traffic(7500, servers, async () => {
    await two.kill();
    await two.start();
  });
  // Each has its share, of which it has used what it let in by Redis.
  const beforeReturn = letIn();
  expect(beforeReturn).toBeLessThanOrEqual(limit);
  expect(beforeReturn).toBeGreaterThan(limit - 150);
  await redis.start();
  await count(1);
  await traffic(6000, servers);

  // One that Redis counted and nobody answered, since one of them was killed, is lost to the site.
  const byRedis = beforeOutage + letIn() - beforeReturn;
  expect(byRedis).toBeLessThanOrEqual(limit);
  expect(byRedis).toBeGreaterThan(limit - 150);
  expect(statuses.get(429)).toBeGreaterThan(1000);
  expect(new Set(statuses.keys())).toEqual(new Set([200, 429, 'no answer']));
  for (const server of servers) {
    expect(server.output).not.toContain(password);
    expect(await server.metrics()).not.toContain(password);
  }
  expect(one.output.match(/Redis does not count the rate limits/g)).toHaveLength(1);
  expect(one.output.match(/Redis counts the rate limits again/g)).toHaveLength(1);
});
