import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it, vi } from 'vitest';
import { refresh } from '../../../pipelines/refresh.ts';
import type { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { Random, seedFor } from '../../../src/demo/generate/network/random.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { noProgress } from '../../../src/kit/logging/progress.ts';
import { readPointer } from '../../../src/fleet/storage/pointer.ts';
import { wallClock } from '../../fault/lives/growing-landing.ts';
import { differences, publishedAndHandedOver } from '../../fault/lives/published-tables.ts';
import { watchedEffects } from '../../fault/lives/watched-effects.ts';
import type { Receipt } from '../../fault/deliveries/postback-receiver.ts';
import { Moto } from '../../s3/store/moto.ts';
import { Child } from './child.ts';
import type { Orders } from './leader-child.ts';
import { atRest, Leader, mistakes, tellSitesAt } from './leaders.ts';
import { changeJson, Machines } from './machines.ts';

const moto = await Moto.start();
await moto.createBucket();
afterAll(() => moto[Symbol.asyncDispose]());

const rounds = Number(process.env['OFFERLINE_FLEET_ROUNDS'] ?? 3);
// A round that hangs fails within minutes.
vi.setConfig({ testTimeout: 120_000 + rounds * 60_000 });
const roundsOfALife = 8;
const day = 24 * 3_600_000;
const terminal = { logger: createLogger({ write: () => true }, 'silent'), progress: noProgress };
const receiverFile = fileURLToPath(new URL('../../fault/deliveries/postback-receiver.ts', import.meta.url));

it(`${rounds} times a leader is killed, or stopped beyond its lease and woken: one line, one id, in order`, async () => {
  for (let first = 0; first < rounds; first += roundsOfALife) {
    const count = Math.min(roundsOfALife, rounds - first);
    await using machines = await Machines.create(seedFor(3, first), count, [moto.url, moto.url], moto.url, {
      clicksARound: 100,
      isBusy: true,
    });
    await using receiver = new Child(receiverFile, [String(first)]);
    await receiver.tells('address');
    const { address } = JSON.parse(receiver.told) as { address: string };
    const orders = join(machines.alone.root, 'orders.json');
    for (const data of [machines.alone, ...machines.together]) await tellSitesAt(data, address);
    const order = async (next: Orders) => {
      await writeFile(`${orders}.tmp`, JSON.stringify(next));
      await rename(`${orders}.tmp`, orders);
    };
    const begin = async (round: number) => {
      const asOf = machines.landing.asOf(round);
      await order({ round, asOf, ahead: 0, rests: true });
      await atRest(both, round);
      await machines.land(round);
      await refresh(
        { data: machines.alone, terminal, asOf },
        watchedEffects(wallClock, () => undefined),
      );
      await order({ round, asOf, ahead: round * 20 * 60_000 });
    };
    const [one, two] = machines.together as [DataDirectory, DataDirectory];
    const both: Leader[] = [];
    await begin(0);
    await using left = new Leader(one, orders);
    await using right = new Leader(two, orders);
    both.push(left, right);
    const forks: string[] = [];
    for (let round = 0; round < count; round++) {
      const random = new Random(seedFor(3, `round ${first + round}`));
      if (round > 0) await begin(round);
      const done = (machine: Leader) => machine.child.tells(`round ${round} done`);
      const told = () => both.map(({ child }) => child.told).join('\n--\n');
      if (round > 0) await Promise.race(both.map(({ child }) => child.tells('leads epoch')));
      await setTimeout(random.next() * 1500);
      const [hit, other] = right.leads && !left.leads ? ([right, left] as const) : ([left, right] as const);
      const what = random.pick(['killed', 'stopped', 'both killed', 'left alone']);
      if (what === 'killed') await hit.die();
      if (what === 'both killed') await Promise.all(both.map((each) => each.die()));
      if (what === 'stopped') {
        hit.child.kill('SIGSTOP');
        // Else the one that is woken may hold the lease still, and never lose it.
        await other.tellsLeading(`round ${round} done`);
        forks.push(...(await machines.forks()));
        const before = hit.leads;
        hit.child.kill('SIGCONT');
        if (before) await hit.child.tells('lost\n', (hit.child.told.match(/lost\n/g)?.length ?? 0) + 1);
      } else await Promise.race(both.map(done));
      forks.push(...(await machines.forks()));
      expect(forks, told()).toEqual([]);
    }
    await fetch(`${address}/calm`);
    const last = { round: roundsOfALife, asOf: machines.landing.asOf(count - 1) };
    // A day later each time, until nothing is left to retry.
    const end = `round ${last.round} done, 0 remaining`;
    const hasEnded = ({ child }: Leader) => child.told.includes(end);
    for (let days = 1; !both.some(hasEnded); days++) {
      await order({ ...last, ahead: days * day });
      await Promise.race([setTimeout(300), ...both.map(({ child }) => child.tells(end))]);
    }
    const leading = both.find(hasEnded) as Leader;
    const told = both.map(({ child }) => child.told).join('\n--\n');
    expect(await machines.forks(), told).toEqual([]);
    const [alone, led] = [await publishedAndHandedOver(machines.alone), await publishedAndHandedOver(leading.data)];
    expect(differences(alone, led), told).toEqual([]);
    const receipts = (await (await fetch(`${address}/receipts`)).json()) as Receipt[];
    expect(receipts.length).toBeGreaterThan(count);
    expect(mistakes(machines.alone, receipts), told).toEqual([]);
  }
});

it('of two schedules one takes over within a minute where the other is killed', async () => {
  await using machines = await Machines.create(900, 3, [moto.url, moto.url]);
  const [one, two] = machines.together as [DataDirectory, DataDirectory];
  for (const { settingsFile } of machines.together)
    await changeJson(settingsFile, { schedule: { refresh: '*/5 * * * * *', postbacks: null, maintenance: null } });
  await machines.land(0);
  await using first = Child.offerline(one, ['schedule']);
  await first.tells('this schedule writes now');
  await first.tells('published to storage');
  await using second = Child.offerline(two, ['start', '--port', '0']);
  await second.tells('standing by');
  await machines.land(1);
  await first.tells('published to storage', 2);
  // It serves what the other one publishes.
  await second.tells('serving snapshot', 2);
  const epoch = (await readPointer(machines.store))?.pointer.epoch;
  first.kill('SIGKILL');
  const killed = performance.now();
  await second.tells('published to storage');
  expect(performance.now() - killed).toBeLessThan(60_000);
  expect((await readPointer(machines.store))?.pointer.epoch).toBe((epoch ?? 0) + 1);
  // The one that is back stands by; where the writer ends by itself, it need not wait.
  await using back = Child.offerline(one, ['schedule']);
  await back.tells('standing by');
  second.kill('SIGTERM');
  const stopped = performance.now();
  await back.tells('this schedule writes now');
  expect(performance.now() - stopped).toBeLessThan(20_000);
  expect(await machines.forks()).toEqual([]);
}, 300_000);
