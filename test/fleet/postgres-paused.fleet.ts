import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { Random } from '../../src/demo/generate/network/random.ts';
import { PostgresStore } from '../../src/fleet/postgres-deliveries/postgres-store.ts';
import { Events, mistakes, receiptsAt, sitesAt } from '../fault/deliveries/killed-deliveries.ts';
import { temporaryData } from '../support/published-snapshot.ts';
import { PostgresServer } from './postgres-server.ts';
import { Child } from './storage/child.ts';

const passFile = fileURLToPath(new URL('../fault/deliveries/postback-delivery.ts', import.meta.url));
const receiverFile = fileURLToPath(new URL('../fault/deliveries/postback-receiver.ts', import.meta.url));
const postbacks = 5_000;
/** Requests under way to one site. */
const concurrency = 8;

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(() => server?.stop());

it('a worker that is stopped in its pass keeps its site from others for a minute, and sends nothing when it wakes up', async () => {
  const { data, remove } = await temporaryData();
  onTestFinished(remove);
  await using receiver = new Child(receiverFile, ['1', 'calm']);
  await receiver.tells('address');
  const { address } = JSON.parse(receiver.told) as { address: string };
  const database = await server.database();
  await writeFile(data.sitesFile, sitesAt(address, 1));
  await writeFile(data.settingsFile, JSON.stringify({ postbacks: { store: database } }));
  const events = new Events(new Random(4), 1);
  const store = await PostgresStore.open(database);
  onTestFinished(() => store.close());
  await store.importOutbox('warehouse', events.more(postbacks));
  const pass = () => new Child(passFile, [data.root], { OFFERLINE_ALLOW_PRIVATE_POSTBACKS: '1' });

  const some = fetch(`${address}/wait?for=500`);
  await using stopped = pass();
  await some;
  // At rest: as many requests as may be under way wait for their answers, so none is half written, and what had ended
  // before is written down. Within a transaction its session would end sooner.
  await fetch(`${address}/hold?for=${concurrency}`);
  stopped.kill('SIGSTOP');
  while ((await statesOf(database)).some((state) => state !== 'idle')) {
    stopped.kill('SIGCONT');
    await statesOf(database);
    stopped.kill('SIGSTOP');
  }
  await fetch(`${address}/release`);
  const began = performance.now();
  while ((await store.unfinished()) > 0 && performance.now() - began < 120_000) {
    await using other = pass();
    expect(await other.ended, other.told).toBe(0);
  }
  expect(await store.unfinished()).toBe(0);
  const before = (await receiptsAt(address)).length;
  stopped.kill('SIGCONT');
  expect(await stopped.ended, stopped.told).not.toBe(0);
  const receipts = await receiptsAt(address);
  expect(receipts.length - before).toBe(0);
  // What it had sent and not written down.
  expect(receipts.length).toBeLessThan(postbacks + 1_024);
  expect(mistakes(events.all, receipts)).toEqual([]);
});

async function statesOf(database: string): Promise<unknown[]> {
  const rows = await server.query(
    new URL(database).pathname.slice(1),
    `SELECT state FROM pg_stat_activity WHERE application_name = 'offerline'`,
  );
  return rows.map(({ state }) => state);
}
