import { existsSync } from 'node:fs';
import { readFile, symlink } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { afterAll, expect, it, onTestFinished, vi } from 'vitest';
import { Random, seedFor } from '../../../src/demo/generate/network/random.ts';
import type { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { momentOfMilliseconds } from '../../../src/kit/time/moment.ts';
import { mistakesOfRefresh, mistakesOfRows, writeSenders } from '../../fault/tracker/killed-tracker.ts';
import { Sent } from '../../fault/tracker/sent.ts';
import { Moto } from '../../s3/store/moto.ts';
import { PipelineUnderTest } from '../../support/pipeline-under-test.ts';
import { freePort } from '../free-port.ts';
import { Child } from './child.ts';
import { storageAt } from './machines.ts';

const moto = await Moto.start();
await moto.createBucket();
afterAll(() => moto[Symbol.asyncDispose]());

const rounds = Number(process.env['OFFERLINE_FLEET_ROUNDS'] ?? 3);
vi.setConfig({ testTimeout: 120_000 + rounds * 30_000 });
const connections = 6;
const ending = ['SIGKILL', 'SIGTERM'] as const;

/** A machine's tracker, as its supervisor keeps it. */
class TrackerMachine {
  readonly address: string;
  readonly #data: DataDirectory;
  readonly #port: number;
  #child: Child | undefined;

  constructor(data: DataDirectory, port: number) {
    this.#data = data;
    this.#port = port;
    this.address = `http://127.0.0.1:${port}`;
  }

  start(): void {
    this.#child = Child.offerline(this.#data, ['track', '--port', String(this.#port)]);
  }

  async end(signal: (typeof ending)[number]): Promise<void> {
    this.#child?.kill(signal);
    await this.#child?.ended;
  }

  /** Status of `/readyz`, as a proxy asks it; 0 without an answer. */
  async ready(): Promise<number> {
    return fetch(`${this.address}/readyz`).then(
      ({ status }) => status,
      () => 0,
    );
  }
}

it(`${rounds} times the machine that tracks dies or is stopped: the other goes on, each answer is one row`, async () => {
  const now = Date.now();
  await using first = await PipelineUnderTest.create(new Date(now));
  await using second = await PipelineUnderTest.bare(new Date(now));
  await symlink(first.data.landing, second.data.landing);
  for (const machine of [first, second]) {
    await machine.configure({
      storage: storageAt(11, moto.url),
      trusted_proxies: ['127.0.0.1'],
      tracker: { hand_over_seconds: 0.5 },
    });
    writeSenders(machine);
  }
  const destination_url = 'https://advertiser.example/?c={click_id}';
  await first.landOffers('north', [{ external_id: 'one', id: 1, title: 'One', payout: '1', destination_url }]);
  await first.refresh(momentOfMilliseconds(now));
  // As a schedule on standby brings what the other has published.
  await second.refresh(momentOfMilliseconds(now));

  const machines = [first, second].map(({ data }) => data);
  const [one, two] = [
    new TrackerMachine(machines[0] as DataDirectory, await freePort()),
    new TrackerMachine(machines[1] as DataDirectory, await freePort()),
  ];
  onTestFinished(async () => {
    await Promise.all([one.end('SIGKILL'), two.end('SIGKILL')]);
  });
  const random = new Random(seedFor(11, 'trackers'));
  const sent = new Sent();
  one.start();
  await vi.waitUntil(async () => (await one.ready()) === 200, { timeout: 30_000, interval: 50 });
  two.start();
  await vi.waitUntil(async () => (await two.ready()) === 503, { timeout: 30_000, interval: 50 });
  let [active, waiting] = [one, two];
  for (let round = 0; round < rounds; round++) {
    let isOver = false;
    const sending = Array.from({ length: connections }, () => sent.keepSending(active.address, random, () => isOver));
    await setTimeout(random.between(200, 1200));
    expect(await waiting.ready(), `round ${round}: the one on standby`).toBe(503);
    await active.end(ending[round % ending.length] as (typeof ending)[number]);
    isOver = true;
    await Promise.all(sending);
    await vi.waitUntil(async () => (await waiting.ready()) === 200, { timeout: 30_000, interval: 50 });
    active.start();
    await vi.waitUntil(async () => (await active.ready()) === 503, { timeout: 30_000, interval: 50 });
    [active, waiting] = [waiting, active];
  }
  await sent.reportTheLost(active.address);
  await waiting.end('SIGTERM');
  await active.end('SIGTERM');
  expect(sent.clicks.size).toBeGreaterThan(rounds);
  expect([...sent.wrong, ...mistakesOfRows(first, sent)]).toEqual([]);
  await second.refresh(momentOfMilliseconds(Date.now() + 1000));
  expect(await mistakesOfRefresh(second)).toEqual([]);
});

it('a tracker of an empty machine waits for the keys of the one before, and makes none', async () => {
  const now = Date.now();
  await using first = await PipelineUnderTest.create(new Date(now));
  await using second = await PipelineUnderTest.bare(new Date(now));
  await symlink(first.data.landing, second.data.landing);
  for (const machine of [first, second]) {
    await machine.configure({ storage: storageAt(12, moto.url) });
    writeSenders(machine);
  }
  const destination_url = 'https://advertiser.example/?c={click_id}';
  await first.landOffers('north', [{ external_id: 'one', id: 1, title: 'One', payout: '1', destination_url }]);
  await first.refresh(momentOfMilliseconds(now));
  const one = new TrackerMachine(first.data, await freePort());
  const two = new TrackerMachine(second.data, await freePort());
  onTestFinished(async () => {
    await Promise.all([one.end('SIGKILL'), two.end('SIGKILL')]);
  });
  one.start();
  await vi.waitUntil(async () => (await one.ready()) === 200, { timeout: 30_000, interval: 50 });
  await one.end('SIGTERM');
  await first.refresh(momentOfMilliseconds(now + 1000));
  two.start();
  await vi.waitUntil(async () => (await two.ready()) === 503, { timeout: 30_000, interval: 50 });
  expect(existsSync(second.data.clickKeysFile)).toBe(false);
  await second.refresh(momentOfMilliseconds(now + 2000));
  await vi.waitUntil(async () => (await two.ready()) === 200, { timeout: 30_000, interval: 50 });
  expect(await readFile(second.data.clickKeysFile)).toEqual(await readFile(first.data.clickKeysFile));
});
