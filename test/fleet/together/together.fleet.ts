import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it, vi } from 'vitest';
import { maintenance } from '../../../pipelines/maintenance.ts';
import { refresh } from '../../../pipelines/refresh.ts';
import { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { readSettings } from '../../../src/kit/config/settings.ts';
import { examine } from '../../../src/pipeline/doctor/doctor.ts';
import { realEffects } from '../../../src/kit/files/effects.ts';
import { Random, seedFor } from '../../../src/demo/generate/network/random.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { noProgress } from '../../../src/kit/logging/progress.ts';
import { PostgresStore } from '../../../src/fleet/postgres-deliveries/postgres-store.ts';
import { readAnalytics } from '../../../src/pipeline/snapshot/read-analytics.ts';
import type { Receipt } from '../../fault/deliveries/postback-receiver.ts';
import { wallClock } from '../../fault/lives/growing-landing.ts';
import { differences, handedOver, publishedTables } from '../../fault/lives/published-tables.ts';
import { watchedEffects } from '../../fault/lives/watched-effects.ts';
import { Moto } from '../../s3/store/moto.ts';
import { PostgresServer } from '../postgres-server.ts';
import { Child } from '../storage/child.ts';
import type { Orders } from '../storage/leader-child.ts';
import { atRest, Leader, mistakes, tellSitesAt, toTell } from '../storage/leaders.ts';
import { changeJson, Machines } from '../storage/machines.ts';

const moto = await Moto.start();
await moto.createBucket();
const postgres = await PostgresServer.start();
afterAll(async () => {
  await postgres.stop();
  await moto[Symbol.asyncDispose]();
});

const rounds = Number(process.env['OFFERLINE_FLEET_ROUNDS'] ?? 3);
// A round that hangs fails within minutes.
vi.setConfig({ testTimeout: 120_000 + rounds * 90_000 });
const roundsOfALife = 10;
/** Some ten new postbacks in a round, so that deliveries are under way when somebody is hit. */
const clicksARound = 300;
const day = 24 * 3_600_000;
/** By which the clock of deliveries goes on with each round, in milliseconds: what failed once is due again then. */
const aheadARound = 20 * 60_000;
const terminal = { logger: createLogger({ write: () => true }, 'silent'), progress: noProgress };
const receiverFile = fileURLToPath(new URL('../../fault/deliveries/postback-receiver.ts', import.meta.url));
const workerFile = fileURLToPath(new URL('worker-child.ts', import.meta.url));
const quiet = () => watchedEffects(wallClock, () => undefined);

/** In some rounds only one kind may send, so that it has sent at all, whatever the machine's pace. */
const sendersOf = (round: number): 'leaders' | 'workers' | 'all' =>
  (['leaders', 'workers'] as const)[round % 4] ?? 'all';

const happenings = [
  'leader killed',
  'leader stopped',
  'leader stopped',
  'all killed',
  'worker killed',
  'worker stopped',
  'PostgreSQL crashed',
];

/** Two machines that would like to write, and two workers, over one storage and one PostgreSQL. */
async function fleetOf(machines: Machines, database: string, address: string, orders: string) {
  const nameOf = ({ root }: DataDirectory) => root.split('/').at(-1) ?? '';
  const workers = ['worker-1', 'worker-2'].map((name) => new DataDirectory(join(machines.alone.root, '..', name)));
  for (const data of workers) {
    await mkdir(data.root);
    await writeFile(data.settingsFile, '{}');
    await writeFile(data.sitesFile, await readFile(machines.alone.sitesFile));
  }
  for (const data of [...machines.together, ...workers]) {
    await changeJson(data.settingsFile, { postbacks: { store: database } });
    // Each by a path of its own: so the receiver can tell who sent.
    await tellSitesAt(data, address, `/postback/${nameOf(data)}`);
  }
  await tellSitesAt(machines.alone, address);
  const stack = new AsyncDisposableStack();
  const leaders = machines.together.map((data) => stack.use(new Leader(data, orders)));
  const working = workers.map((data) => stack.use(new Leader(data, orders, workerFile)));
  const receipts = async () => (await (await fetch(`${address}/receipts`)).json()) as Receipt[];
  return {
    leaders,
    workers: working,
    all: [...leaders, ...working],
    told: () => [...leaders, ...working].map(({ child }) => child.told).join('\n--\n'),
    receipts,
    sentBy: async (senders: Leader[]) => {
      const paths = senders.map(({ data }) => `/postback/${nameOf(data)}`);
      return (await receipts()).filter(({ path }) => paths.includes(path)).length;
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** Of each postback what a snapshot and the store of deliveries both know. */
const known = ['webhook_id', 'state', 'attempts', 'last_status', 'last_error', 'reward'].join(', ');

async function statesIn(data: DataDirectory): Promise<Map<string, string[]>> {
  const rows = await readAnalytics(data.current, (query) =>
    query<Record<string, unknown>>(
      `SELECT webhook_id, state, attempts, last_status, last_error, rtrim(rtrim(reward::VARCHAR, '0'), '.') AS reward FROM postbacks ORDER BY webhook_id`,
    ),
  );
  return new Map([['states', rows.map((row) => JSON.stringify(row))]]);
}

async function statesAt(database: string): Promise<Map<string, string[]>> {
  const name = new URL(database).pathname.slice(1);
  const rows = await postgres.query(name, `SELECT ${known} FROM offerline.postbacks ORDER BY webhook_id`);
  return new Map([['states', rows.map((row) => JSON.stringify(row))]]);
}

async function handedOverTo(database: string): Promise<Map<string, string[]>> {
  const name = new URL(database).pathname.slice(1);
  const rows = await postgres.query(
    name,
    'SELECT webhook_id, conversion_id, kind, click_id, site_key, user_id, offer_id, reward, occurred_at, enqueued_at FROM offerline.postbacks ORDER BY webhook_id',
  );
  return new Map([['deliveries', rows.map((row) => JSON.stringify({ ...row, offer_id: Number(row['offer_id']) }))]]);
}

it(`${rounds} rounds of writers on storage and workers over PostgreSQL, each killed or stopped and woken: one line, every postback once and in order, both agree`, async () => {
  const counts = new Map<string, number>();
  for (let first = 0; first < rounds; first += roundsOfALife) {
    const count = Math.min(roundsOfALife, rounds - first);
    await using machines = await Machines.create(
      seedFor(5, first),
      // All that lands has occurred by the last round: what the rounds after it show is how deliveries ended.
      count,
      [moto.url, moto.url],
      moto.url,
      { clicksARound, isBusy: true },
    );
    await using receiver = new Child(receiverFile, [String(first)]);
    await receiver.tells('address');
    const { address } = JSON.parse(receiver.told) as { address: string };
    const database = await postgres.database();
    const orders = join(machines.alone.root, 'orders.json');
    const order = async (next: Orders) => {
      await writeFile(`${orders}.tmp`, JSON.stringify(next));
      await rename(`${orders}.tmp`, orders);
    };
    // Makes the tables: a worker that is stopped while it makes them would hold up all others.
    await (await PostgresStore.open(database)).close();
    const leaders: Leader[] = [];
    const begin = async (round: number) => {
      const before = round === 0 ? 0 : toTell(machines.alone).length;
      const next = {
        round,
        asOf: machines.landing.asOf(round),
        ahead: round * aheadARound,
        senders: sendersOf(round),
      };
      await order({ ...next, rests: true });
      await atRest(leaders, round);
      if (round < count) await machines.land(round);
      await refresh({ data: machines.alone, terminal, asOf: next.asOf }, quiet());
      const added = toTell(machines.alone).length - before;
      expect(added > 0, `${added} new postbacks in round ${round} of ${count}`).toBe(round < count);
      await order(next);
    };
    await begin(0);
    const fleet = await fleetOf(machines, database, address, orders);
    leaders.push(...fleet.leaders);
    const { workers, told } = fleet;
    try {
      const done = (round: number) => (machine: Leader) => machine.child.tells(`round ${round} done`);
      /** What leaders sent from their waking up until they knew that they lead no more. */
      const late: number[] = [];
      const workersSendMoreThan = async (sent: number) => {
        await expect
          .poll(() => fleet.sentBy(workers), { timeout: 120_000, message: 'sent by workers' })
          .toBeGreaterThan(sent);
      };
      const noFork = async () => expect(await machines.forks(), told()).toEqual([]);
      for (let round = 0; round < count; round++) {
        const random = new Random(seedFor(5, `round ${first + round}`));
        const sentBefore = await fleet.sentBy(workers);
        if (round > 0) {
          await begin(round);
          await Promise.race(leaders.map(({ child }) => child.tells('leads epoch')));
        }
        // At any moment, or when so many postbacks have arrived.
        await Promise.race([
          setTimeout(random.next() * 2000),
          random.chance(0.5) ? fetch(`${address}/wait?for=${random.between(1, 8)}`) : setTimeout(2000),
        ]);
        const [hit, other] = (leaders[1]?.leads && !leaders[0]?.leads ? leaders.toReversed() : leaders) as [
          Leader,
          Leader,
        ];
        const worker = random.pick(workers);
        const what = random.pick(happenings);
        counts.set(what, (counts.get(what) ?? 0) + 1);
        if (what === 'leader killed') await hit.die();
        if (what === 'all killed') await Promise.all(fleet.all.map((each) => each.die()));
        if (what === 'worker killed') await worker.die();
        if (what === 'worker stopped') worker.child.kill('SIGSTOP');
        if (what === 'PostgreSQL crashed') {
          await postgres.crash();
          await postgres.run();
        }
        if (what === 'leader stopped') {
          hit.child.kill('SIGSTOP');
          // Else the one that is woken may hold the lease still, and never lose it.
          await other.tellsLeading(`round ${round} done`);
          await noFork();
          const before = hit.leads;
          const sent = await fleet.sentBy([hit]);
          hit.child.kill('SIGCONT');
          if (before) {
            await hit.child.tells('lost\n', (hit.child.told.match(/lost\n/g)?.length ?? 0) + 1);
            // The one whose lease was looked at just before it was stopped.
            late.push((await fleet.sentBy([hit])) - sent);
          }
        } else await Promise.race(leaders.map(done(round)));
        await noFork();
        for (const { child } of workers) child.kill('SIGCONT');
        if (sendersOf(round) === 'workers') await workersSendMoreThan(sentBefore);
      }
      expect(await fleet.sentBy(leaders), told()).toBeGreaterThan(0);
      await fetch(`${address}/calm`);
      await begin(count);
      await Promise.race(leaders.map(done(count)));
      await using store = Object.assign(await PostgresStore.open(database), {
        [Symbol.asyncDispose]: () => store.close(),
      });
      const asOf = machines.landing.asOf(count);
      for (let days = 1; (await store.unfinished()) > 0; days++) {
        await order({ round: count, asOf, ahead: days * day, senders: 'all' });
        await setTimeout(300);
      }
      await begin(count + 1);
      await Promise.race(leaders.map(done(count + 1)));
      expect(await store.unfinished()).toBe(0);
      await noFork();
      // One that ended by itself met what it does not know.
      expect(
        fleet.all.map(({ child }) => child.process.exitCode),
        told(),
      ).toEqual(fleet.all.map(() => null));
      // By the epoch: one that has just lost the lease has not heard of it yet.
      const [leading, standing] = leaders.toSorted((one, other) => other.epoch - one.epoch) as [Leader, Leader];
      for (const { child } of fleet.all) {
        child.kill('SIGKILL');
        await child.ended;
      }
      // The other one takes over what was published, and finds nothing new.
      await refresh({ data: standing.data, terminal, asOf: machines.landing.asOf(count + 1) }, quiet());
      await maintenance({ data: standing.data, terminal, asOf: machines.landing.asOf(count + 1) }, quiet());
      for (const { data } of [leading, standing]) {
        expect(differences(await publishedTables(machines.alone), await publishedTables(data)), told()).toEqual([]);
        expect(differences(await statesAt(database), await statesIn(data)), told()).toEqual([]);
        const opening = { ...terminal, data, settings: readSettings(data), effects: realEffects };
        const { findings } = await examine(opening, { deep: true, repair: false, progress: noProgress });
        expect(findings.filter(({ level }) => level === 'trouble')).toEqual([]);
      }
      expect(differences(handedOver(machines.alone), await handedOverTo(database)), told()).toEqual([]);
      expect(Math.max(0, ...late)).toBeLessThanOrEqual(1);
      const receipts = await fleet.receipts();
      expect(mistakes(machines.alone, receipts), told()).toEqual([]);
      process.stdout.write(
        `${new Set(receipts.map(({ webhookId }) => webhookId)).size} postbacks in ${receipts.length} requests by ${JSON.stringify(Object.fromEntries([...Map.groupBy(receipts, ({ path }) => path)].map(([path, each]) => [path, each.length])))}\n`,
      );
    } finally {
      await fleet[Symbol.asyncDispose]();
    }
  }
  process.stdout.write(`${JSON.stringify(Object.fromEntries(counts))}\n`);
});
