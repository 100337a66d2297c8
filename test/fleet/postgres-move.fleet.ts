import { existsSync, readdirSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { movePostbacks } from '../../pipelines/move-postbacks.ts';
import type { DataDirectory } from '../../src/kit/config/data-directory.ts';
import { defaultSettings, readSettings } from '../../src/kit/config/settings.ts';
import { exitCode } from '../../src/kit/errors/errors.ts';
import { realEffects, type Effects } from '../../src/kit/files/effects.ts';
import { createLogger } from '../../src/kit/logging/log.ts';
import { noProgress } from '../../src/kit/logging/progress.ts';
import { giveUpKnownStore } from '../../src/pipeline/deliveries/known-store.ts';
import { syncDeliveries } from '../../src/pipeline/deliveries/sync-deliveries.ts';
import { openStore } from '../../src/postbacks/open-store.ts';
import { deliverDue } from '../../src/postbacks/pass/deliver-due.ts';
import { PostgresStore } from '../../src/fleet/postgres-deliveries/postgres-store.ts';
import type { DeliveryStore } from '../../src/postbacks/store/delivery-store.ts';
import { SqliteStore } from '../../src/postbacks/store/sqlite-store.ts';
import { watchedEffects } from '../fault/lives/watched-effects.ts';
import { endOf, usageErrorOf } from '../support/commands.ts';
import {
  delivered,
  enqueuedAt,
  hour,
  outboxRow,
  receiver,
  refused,
  siteWith,
  unreachable,
} from '../support/deliveries.ts';
import { LogLanding } from '../support/log-landing.ts';
import { testRun } from '../test-run.ts';
import { temporaryData } from '../support/published-snapshot.ts';
import { PostgresServer } from './postgres-server.ts';

const silent = { logger: createLogger({ write: () => true }, 'silent'), progress: noProgress };
const sites = ['s', 't', 'silent'].map((key) => siteWith(key));

let server: PostgresServer;
let data: DataDirectory;
let address: string;
beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(() => server?.stop());
beforeEach(async () => {
  const { data: made, remove } = await temporaryData();
  onTestFinished(remove);
  data = made;
  address = await server.database();
  await mkdir(data.root, { recursive: true });
  await writeFile(data.settingsFile, JSON.stringify({ postbacks: { store: address } }));
  await writeFile(data.sitesFile, JSON.stringify({ sites }));
});

/** Some delivered, some failed, some dead, some waiting for others of their click, and a site that is spared. */
async function fillFile(postbacks: number): Promise<void> {
  const store = SqliteStore.open(data);
  const rows = Array.from({ length: postbacks }, (_, index) =>
    outboxRow(index + 1, {
      clickId: `k${index % (postbacks / 2)}`,
      siteKey: ['s', 't', 'silent'][index % 3] as string,
      userId: index % 7 === 0 ? `u\u0000${index}\u0001` : `ü${index}`,
      occurredAt: `2026-11-20T09:${String(index % 60).padStart(2, '0')}:00.00000${index % 10}Z`,
    }),
  );
  await store.importOutbox('a warehouse', rows);
  await pass(store, enqueuedAt);
  await store.close();
}

async function pass(store: DeliveryStore, now: number): Promise<string[]> {
  const sender = receiver((id, { url }) => {
    if (url.includes('silent')) return unreachable;
    const number = Number(id.slice(1));
    if (number % 11 === 0) return { ...refused, status: 410, error: 'gone' };
    return number % 5 === 0 && now === enqueuedAt ? refused : delivered;
  });
  await deliverDue({ ...silent, store, sites, sender, now: () => now, random: () => 0.5 });
  return sender.sent;
}

const inStore = async <Result>(work: (store: DeliveryStore) => Promise<Result>): Promise<Result> => {
  const isFile = existsSync(data.deliveriesFile);
  const store = await openStore(data, isFile ? { postbacks: {} } : readSettings(data));
  try {
    return await work(store);
  } finally {
    await store.close();
  }
};
/** All that a store tells. */
const told = () =>
  inStore(async (store) => ({
    id: store.storeId,
    changes: await store.changesSince(0, 100_000),
    due: await store.due(enqueuedAt + 24 * hour),
    circuits: [...(await store.openCircuits())],
    importedUpTo: await store.importedUpTo('a warehouse'),
  }));
const move = (to: 'postgres' | 'sqlite', effects?: Effects) =>
  movePostbacks({ data, terminal: silent, to, dryRun: false }, effects);

it('there and back all is the same, and delivery goes on in either store where it was', async () => {
  await fillFile(3000);
  const before = await told();
  expect(new Set(before.changes.postbacks.map(({ state }) => state))).toEqual(
    new Set(['pending', 'delivered', 'dead']),
  );
  expect(before.circuits.length).toBe(1);

  const looked = await endOf(data.root, 'postbacks', 'move', '--to', 'postgres', '--dry-run');
  expect(looked).toMatchObject({
    code: exitCode.done,
    stdout: expect.stringContaining('3000 postbacks and') as string,
  });
  expect(await told()).toEqual(before);
  const there = await endOf(data.root, 'postbacks', 'move', '--to', 'postgres');
  expect(there).toMatchObject({ code: exitCode.done, stderr: '' });
  expect(existsSync(data.deliveriesFile)).toBe(false);
  expect(await told()).toEqual(before);

  const sentThere = await inStore((store) => pass(store, enqueuedAt + hour));
  expect(sentThere.length).toBeGreaterThan(100);
  const since = await told();
  const back = await endOf(data.root, 'postbacks', 'move', '--to', 'sqlite');
  expect(back).toMatchObject({
    code: exitCode.done,
    stderr: '',
    stdout: expect.stringMatching(/; now take postbacks\.store out of offerline\.json\n$/) as string,
  });
  expect(await told()).toEqual(since);
  for (const { stdout, stderr } of [looked, there, back]) {
    expect(stdout + stderr).not.toContain(server.password);
    expect(stdout + stderr).not.toContain(encodeURIComponent(server.password));
  }
  const sentBack = await inStore((store) => pass(store, enqueuedAt + 2 * hour));
  expect(sentBack.length).toBeGreaterThan(0);
  const sent = await inStore((store) => store.changesSince(0, 100_000));
  expect(sent.attempts.filter(({ status }) => status === 200).length).toBe(
    sent.postbacks.filter(({ state }) => state === 'delivered').length,
  );

  // Called again there is nothing to do, also once PostgreSQL is taken out of the settings.
  const again = { code: exitCode.done, stdout: expect.stringContaining('nothing to move: 3000 postbacks') as string };
  expect(await endOf(data.root, 'postbacks', 'move', '--to', 'sqlite')).toMatchObject(again);
  await writeFile(data.settingsFile, '{}');
  expect(await endOf(data.root, 'postbacks', 'move', '--to', 'sqlite')).toMatchObject(again);
  await writeFile(data.settingsFile, JSON.stringify({ postbacks: { store: address } }));

  // Once more there: what it held before is replaced.
  const last = await told();
  await move('postgres');
  expect(await told()).toEqual(last);
  expect(await endOf(data.root, 'postbacks', 'move', '--to', 'postgres', '--json')).toMatchObject({
    code: exitCode.done,
    stdout: expect.stringMatching(/"postbacks": ?3000,.*"from": ?null/s) as string,
  });
  expect(await told()).toEqual(last);
});

it.each(['postgres', 'sqlite'] as const)(
  'ended at any step on the way to %s it goes on when it is called again, and at most one store is in use',
  async (to) => {
    await fillFile(60);
    if (to === 'sqlite') {
      await move('postgres');
      await inStore((store) => pass(store, enqueuedAt + hour));
    }
    const before = await told();
    const back = to === 'postgres' ? 'sqlite' : 'postgres';
    let steps = 0;
    await move(
      to,
      watchedEffects(realEffects.now(), () => (steps += 1)),
    );
    expect(await told()).toEqual(before);
    await move(back);
    for (let broken = 1; broken <= steps; broken++) {
      let left = broken;
      const effects = watchedEffects(realEffects.now() + broken * 1000, ({ step, moment }) => {
        if (--left === 0) throw new Error(`ended ${moment} ${step}`);
      });
      const failure = await move(to, effects).then(
        () => 'it came to its end',
        (error: Error) => error.message,
      );
      const file = existsSync(data.deliveriesFile);
      const [row] = await server.query(new URL(address).pathname.slice(1), 'SELECT standing FROM offerline.store');
      const isShared = row?.['standing'] === 'in use';
      // On this machine PostgreSQL is refused as long as the file is there.
      expect([failure, to === 'sqlite' && file && isShared]).toEqual([failure, false]);
      await move(to);
      expect(await told(), failure).toEqual(before);
      await move(back);
      expect(await told(), failure).toEqual(before);
    }
    expect(steps).toBeGreaterThan(8);
  },
);

it('refuses while postbacks are delivered, and lets nobody deliver from a store that is not in use', async () => {
  await fillFile(30);
  await expect(inStoreOfPostgres()).rejects.toThrow('deliveries still lie in');
  await move('postgres');
  const worker = await PostgresStore.open(address);
  const passing = await worker.beginPass(enqueuedAt + hour);
  await expect(move('sqlite')).rejects.toMatchObject({ exitCode: exitCode.busy });
  await passing.end();
  await move('sqlite');
  // One that had opened the store before, and one that comes now.
  await expect(worker.beginPass(enqueuedAt + hour)).rejects.toThrow('were moved to SQLite');
  await worker.close();
  await expect(PostgresStore.open(address)).rejects.toThrow('take postbacks.store out of offerline.json');
});

it('moves to one machine alone: nowhere else, nor once more where its file is gone', async () => {
  await fillFile(30);
  await move('postgres');
  // An interrupted move on another machine, before PostgreSQL is left.
  const { data: other, remove } = await temporaryData();
  onTestFinished(remove);
  await mkdir(other.root, { recursive: true });
  await writeFile(other.settingsFile, JSON.stringify({ postbacks: { store: address } }));
  const moveToOther = (effects?: Effects, dryRun = false) =>
    movePostbacks({ data: other, terminal: silent, to: 'sqlite', dryRun }, effects);
  const interrupted = watchedEffects(realEffects.now(), ({ step, moment }) => {
    if (step === 'moved deliveries: completed' && moment === 'before') throw new Error('ended');
  });
  await expect(moveToOther(interrupted)).rejects.toThrow('ended');
  expect(existsSync(other.movedDeliveriesFile)).toBe(true);

  await move('sqlite');
  const movedAlready = {
    exitCode: exitCode.usage,
    message: expect.stringMatching(
      /were moved away already, on another machine or before: .* --to sqlite --lost`/,
    ) as string,
  };
  await expect(moveToOther()).rejects.toMatchObject(movedAlready);
  await rm(other.movedDeliveriesFile);
  await expect(moveToOther()).rejects.toMatchObject(movedAlready);
  await expect(moveToOther(undefined, true)).rejects.toMatchObject(movedAlready);
  expect(existsSync(other.deliveriesFile)).toBe(false);

  await rm(data.deliveriesFile);
  await expect(move('sqlite')).rejects.toMatchObject(movedAlready);
});

it('of a store without a postback may be called again', async () => {
  await (await PostgresStore.open(address)).close();
  await move('sqlite');
  await move('sqlite');
  expect(existsSync(data.deliveriesFile)).toBe(true);
});

it('mixes no deliveries with others, and says what is missing', async () => {
  expect(await usageErrorOf(data.root, 'postbacks', 'move', '--to', 'postgres')).toContain(
    'there are no deliveries to move',
  );
  const other = await PostgresStore.open(address);
  await other.importOutbox('another warehouse', [outboxRow(1)]);
  await other.close();
  await fillFile(30);
  expect(await usageErrorOf(data.root, 'postbacks', 'move', '--to', 'postgres')).toContain(
    'holds deliveries of its own',
  );
  expect(await usageErrorOf(data.root, 'postbacks', 'move', '--to', 'sqlite')).toContain('holds deliveries of its own');
  expect(readdirSync(data.postbacks)).toContain('deliveries.sqlite');
  await writeFile(data.settingsFile, '{}');
  expect(await usageErrorOf(data.root, 'postbacks', 'move', '--to', 'postgres')).toContain('names no PostgreSQL');
});

const inStoreOfPostgres = () => openStore(data, readSettings(data));

describe('a store that settings left without a move', () => {
  const outbox = (landing: LogLanding) =>
    landing.query(`INSERT INTO outbox VALUES (1, 'w1', 'c1', 'credit', 'k1', 's', 'u', 7, 0.5,
      TIMESTAMPTZ '2026-11-20T09:59:00Z', TIMESTAMPTZ '2026-11-20T10:00:00Z', NULL)`);
  const syncWith = (landing: LogLanding, store?: string) =>
    syncDeliveries.run(
      testRun(landing.data, { settings: { ...defaultSettings, postbacks: store === undefined ? {} : { store } } }),
      landing.state,
    );
  const exit2 = (message: RegExp) => ({ exitCode: exitCode.usage, message: expect.stringMatching(message) as string });
  const handedOver = { handedOver: 1, changed: 0, attempts: 0 };

  it('is refused from PostgreSQL to SQLite, to another PostgreSQL, and from a file that is elsewhere', async () => {
    await using landing = await LogLanding.create();
    await outbox(landing);
    expect(await syncWith(landing, address)).toEqual(handedOver);
    const toSqlite = /handed to PostgreSQL at .*\/.*: write its address into .*`offerline postbacks move --to sqlite`/;
    await expect(syncWith(landing)).rejects.toMatchObject(exit2(toSqlite));
    expect(existsSync(landing.data.deliveriesFile)).toBe(false);
    // A command that looks makes an empty file, which is in nobody's way.
    await (await openStore(landing.data, { postbacks: {} })).close();
    await expect(syncWith(landing)).rejects.toMatchObject(exit2(toSqlite));
    const other = await server.database();
    await expect(syncWith(landing, other)).rejects.toMatchObject(exit2(/then name the second and .*--to postgres`/));
    expect(await syncWith(landing, address)).toEqual({ ...handedOver, handedOver: 0 });
    await expect(syncWith(landing, other)).rejects.not.toThrow(server.password);

    await giveUpKnownStore(landing.state.connection);
    expect(await syncWith(landing)).toEqual(handedOver);
    await rm(landing.data.deliveriesFile);
    // The store of this machine was lost; another one is filled.
    expect(await syncWith(landing)).toEqual(handedOver);
    await rm(landing.data.deliveriesFile);
    const toPostgres = /handed to SQLite, .*another store, PostgreSQL at .*`offerline postbacks move --to postgres`/;
    await expect(syncWith(landing, address)).rejects.toMatchObject(exit2(toPostgres));
  });

  it('is followed where it was moved', async () => {
    await using landing = await LogLanding.create();
    await outbox(landing);
    await syncWith(landing);
    await writeFile(landing.data.settingsFile, JSON.stringify({ postbacks: { store: address } }));
    await movePostbacks({ data: landing.data, terminal: silent, to: 'postgres', dryRun: false });
    expect(await syncWith(landing, address)).toEqual({ ...handedOver, handedOver: 0 });
    await movePostbacks({ data: landing.data, terminal: silent, to: 'sqlite', dryRun: false });
    expect(await syncWith(landing)).toEqual({ ...handedOver, handedOver: 0 });
  });
});
