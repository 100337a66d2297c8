import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DataDirectory } from '../../src/kit/config/data-directory.ts';
import { Random } from '../../src/demo/generate/network/random.ts';
import type { DeliverySummary } from '../../src/postbacks/pass/deliver-due.ts';
import { PostgresStore } from '../../src/fleet/postgres-deliveries/postgres-store.ts';
import type { DeliveryStore } from '../../src/postbacks/store/delivery-store.ts';
import {
  deliverTheRest,
  Events,
  firstLine,
  mistakes,
  program,
  receiptsAt,
  sitesAt,
  unfinished,
} from '../fault/deliveries/killed-deliveries.ts';
import { nodeArguments } from '../support/command-line.ts';
import { temporaryData } from '../support/published-snapshot.ts';
import { PostgresServer } from './postgres-server.ts';

const onePassProgram = fileURLToPath(new URL('../fault/deliveries/postback-delivery.ts', import.meta.url));
const workers = 4;
const sites = 12;
const postbacks = Number(process.env['OFFERLINE_FLEET_POSTBACKS'] ?? 20_000);
/** Retries of a pass are due in the next one. Milliseconds. */
const betweenPasses = 20 * 60_000;

let server: PostgresServer;
let folder: DataDirectory;
let removeFolder: () => Promise<void>;
beforeAll(async () => {
  server = await PostgresServer.start();
  ({ data: folder, remove: removeFolder } = await temporaryData());
});
afterAll(async () => {
  await server?.stop();
  await removeFolder?.();
});

/** A machine that delivers: a data directory with nothing but sites and settings. */
async function machine(name: string, receiver: string, store?: string): Promise<DataDirectory> {
  const data = new DataDirectory(join(folder.root, name));
  await mkdir(data.root, { recursive: true });
  await writeFile(data.sitesFile, sitesAt(receiver, sites));
  await writeFile(data.settingsFile, JSON.stringify(store === undefined ? {} : { postbacks: { store } }));
  return data;
}

async function fill(store: DeliveryStore, events: Events, count: number): Promise<void> {
  const rows = events.more(count);
  for (let first = 0; first < rows.length; first += 10_000)
    await store.importOutbox('warehouse', rows.slice(first, first + 10_000));
}

const whyPassesFail = /PostgreSQL at 127\.0\.0\.1:\d+\/deliveries_1 \(postbacks\.store\) (cannot be reached|failed)/;
const hasFailed = ({ code }: EndedPass) => code !== null && code !== 0;

const never = new Promise<never>(() => undefined);

interface EndedPass {
  code: number | null;
  signal: string | null;
  told: string;
  summary: DeliverySummary | undefined;
}

async function onePass(data: DataDirectory, ahead: number, kill: Promise<unknown>): Promise<EndedPass> {
  const child = spawn(process.execPath, [...nodeArguments, onePassProgram, data.root, String(ahead)], {
    env: { ...process.env, OFFERLINE_ALLOW_PRIVATE_POSTBACKS: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'exit') as Promise<[number | null, string | null]>;
  let told = '';
  child.stdout.on('data', (chunk: Buffer) => (told += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (told += chunk.toString()));
  void kill.then(() => child.kill('SIGKILL'));
  const [code, signal] = await ended;
  const summary = told.split('\n').find((line) => line.startsWith('{"due"'));
  return { code, signal, told, summary: summary === undefined ? undefined : (JSON.parse(summary) as DeliverySummary) };
}

it('four workers, killed again and again, and PostgreSQL crashed among them, lose nothing and keep each click in its order', async () => {
  const random = new Random(1);
  const receiver = program('postback-receiver.ts', '1', 'quick');
  try {
    const { address } = JSON.parse(await firstLine(receiver)) as { address: string };
    const database = await server.database();
    const machines = await Promise.all(
      Array.from({ length: workers }, (_, worker) => machine(`worker-${worker}`, address, database)),
    );
    const events = new Events(random, sites);
    const filling = await PostgresStore.open(database);
    await fill(filling, events, postbacks);
    await filling.importOutbox('another warehouse', events.some(500));
    await filling.close();

    let ahead = 0;
    let arrived = 0;
    const passes: EndedPass[] = [];
    const begun = performance.now();
    const work = async (data: DataDirectory) => {
      for (let done = false; !done;) {
        // Two of three are killed after they and the others together got through to so many requests.
        const isKilled = random.chance(2 / 3);
        const kill = isKilled
          ? fetch(`${address}/wait?for=${random.below(postbacks / 8)}`).catch(() => undefined)
          : never;
        ahead += betweenPasses;
        const pass = await onePass(data, ahead, kill);
        passes.push(pass);
        // Any other end would come again, pass after pass.
        if (hasFailed(pass) && !whyPassesFail.test(pass.told)) throw new Error(pass.told);
        arrived = Number(await (await fetch(`${address}/count`)).text());
        done = pass.summary?.remaining === 0;
      }
    };
    const working = Promise.all(machines.map(work));
    const crash = async () => {
      // Connections are cut under workers that live on, then the server ends under all.
      for (let cut = 0; cut < 10; cut++) {
        await Promise.race([working, fetch(`${address}/wait?for=${Math.floor(postbacks / 20)}`)]);
        await server.query(
          new URL(database).pathname.slice(1),
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'offerline' ORDER BY random() LIMIT 1`,
        );
      }
      await server.crash();
      await server.run();
    };
    await Promise.all([working, crash()]);
    const seconds = (performance.now() - begun) / 1000;

    const store = await PostgresStore.open(database);
    await fetch(`${address}/calm`);
    await deliverTheRest(machines[0] as DataDirectory, store, ahead);
    const receipts = await receiptsAt(address);
    const wrong = [...mistakes(events.all, receipts), ...(await unfinished(store))];
    await store.close();
    const killed = passes.filter(({ signal }) => signal === 'SIGKILL').length;
    const broken = passes.filter(hasFailed);
    process.stdout.write(
      `${events.all.length} postbacks, ${workers} workers: ${receipts.length} requests in ${seconds.toFixed(1)} s, ${passes.length} passes, ${killed} killed, ${broken.length} ended with PostgreSQL; ${wrong.length} mistakes\n`,
    );
    expect(wrong).toEqual([]);
    expect(killed).toBeGreaterThan(workers);
    expect(broken.length).toBeGreaterThan(0);
    for (const { told } of broken) {
      expect(told).not.toContain(server.password);
      expect(told).not.toContain(encodeURIComponent(server.password));
    }
    expect(arrived).toBeGreaterThan(postbacks);
  } finally {
    receiver.kill('SIGKILL');
  }
});
