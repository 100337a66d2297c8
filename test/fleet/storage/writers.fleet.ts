import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it, vi } from 'vitest';
import { refresh } from '../../../pipelines/refresh.ts';
import type { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { Random, seedFor } from '../../../src/demo/generate/network/random.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { noProgress } from '../../../src/kit/logging/progress.ts';
import { wallClock } from '../../fault/lives/growing-landing.ts';
import { killedRefresh } from '../../fault/lives/killed-refresh.ts';
import { differences, publishedAndHandedOver, publishedTables } from '../../fault/lives/published-tables.ts';
import type { ChildRefresh } from '../../fault/lives/refresh-child.ts';
import { watchedEffects, type StepPoint } from '../../fault/lives/watched-effects.ts';
import { nodeArguments } from '../../support/command-line.ts';
import { Moto } from '../../s3/store/moto.ts';
import { Machines } from './machines.ts';

const moto = await Moto.start();
await moto.createBucket();
afterAll(() => moto[Symbol.asyncDispose]());

const rounds = Number(process.env['OFFERLINE_FLEET_ROUNDS'] ?? 4);
// A round that hangs fails within minutes.
vi.setConfig({ testTimeout: 120_000 + rounds * 60_000 });
const roundsOfALife = 10;
const terminal = { logger: createLogger({ write: () => true }, 'silent'), progress: noProgress };
const child = fileURLToPath(new URL('../../fault/lives/refresh-child.ts', import.meta.url));

/** A refresh to its end, on which one of several machines it may be; gives the points that it went through. */
async function whole(data: DataDirectory, asOf: string): Promise<StepPoint[]> {
  const points: StepPoint[] = [];
  await refresh(
    { data, terminal, asOf },
    watchedEffects(wallClock, (point) => void points.push(point)),
  );
  return points;
}

const hits = new Map<string, number>();
/** The point that was hit least, those of storage first. */
function pick(points: readonly StepPoint[], random: Random): StepPoint {
  const name = ({ step, moment }: StepPoint) => `${moment} ${step}`;
  const count = (point: StepPoint) => (hits.get(name(point)) ?? 0) + (point.step.startsWith('storage') ? 0 : 1);
  const fewest = Math.min(...points.map(count));
  const point = random.pick(points.filter((each) => count(each) === fewest));
  hits.set(name(point), (hits.get(name(point)) ?? 0) + 1);
  return point;
}

it(`${rounds} times a writer is killed, another machine goes on, and all is as on one machine`, async () => {
  for (let first = 0; first < rounds; first += roundsOfALife) {
    await using machines = await Machines.create(seedFor(1, first), roundsOfALife, [moto.url, moto.url]);
    let points: StepPoint[] = [];
    for (let round = 0; round < Math.min(roundsOfALife, rounds - first); round++) {
      const random = new Random(seedFor(1, `round ${first + round}`));
      const asOf = machines.landing.asOf(round);
      await machines.land(round);
      await whole(machines.alone, asOf);
      const [killed, other] = random.shuffle([...machines.together]) as [DataDirectory, DataDirectory];
      const killAt = points.length === 0 || random.chance(0.3) ? null : pick(points, random);
      await killedRefresh(
        { pipeline: 'refresh', root: killed.root, asOf, wallClock, killAt },
        killAt === null ? random.next() * 2500 : undefined,
      );
      const about = `round ${first + round}, killed at ${JSON.stringify(killAt)}`;
      expect(await machines.forks(), about).toEqual([]);
      points = await whole(other, asOf);
      expect(await machines.forks(), about).toEqual([]);
      const [alone, next] = [await publishedAndHandedOver(machines.alone), await publishedAndHandedOver(other)];
      expect(differences(alone, next), about).toEqual([]);
    }
  }
});

it('a writer that was stopped for a while, and wakes up after another has published, changes nothing', async () => {
  const turns = 3;
  await using machines = await Machines.create(77, turns, [moto.url, moto.url]);
  for (let round = 0; round < turns; round++) {
    const random = new Random(seedFor(7, `stopped ${round}`));
    const asOf = machines.landing.asOf(round);
    await machines.land(round);
    await whole(machines.alone, asOf);
    const [stopped, other] = random.shuffle([...machines.together]) as [DataDirectory, DataDirectory];
    const request: ChildRefresh = { pipeline: 'refresh', root: stopped.root, asOf, wallClock, killAt: null };
    const running = spawn(process.execPath, [...nodeArguments, child, JSON.stringify(request)], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let told = '';
    running.stderr.setEncoding('utf8').on('data', (text: string) => (told += text));
    const ended = once(running, 'exit');
    await Promise.race([once(running.stdout, 'data'), ended]);
    await Promise.race([setTimeout(random.next() * 1200), ended]);
    running.kill('SIGSTOP');
    await whole(other, asOf);
    const after = await machines.forks();
    expect(after).toEqual([]);
    const before = JSON.stringify(await machines.store.readText('current.json'));
    running.kill('SIGCONT');
    const [code] = (await ended) as [number];
    expect(await machines.forks()).toEqual([]);
    // It had not begun to look at storage yet, had published before it was stopped, or is discarded.
    const changed = JSON.stringify(await machines.store.readText('current.json')) !== before;
    expect({ code, changed, told }).toSatisfy(() => code === 0 || (!changed && /is discarded|has changed/.test(told)));
    const next = await whole(stopped, asOf);
    expect(next.length).toBeGreaterThan(0);
    expect(differences(await publishedTables(machines.alone), await publishedTables(stopped))).toEqual([]);
  }
}, 600_000);
