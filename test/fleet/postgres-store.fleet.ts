import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { PostgresStore } from '../../src/fleet/postgres-deliveries/postgres-store.ts';
import { StoreAwayError } from '../../src/postbacks/store/delivery-store.ts';
import { describeKeeping } from '../postbacks/every-store/keeping.ts';
import { describePasses } from '../postbacks/every-store/passes.ts';
import { describeSync } from '../postbacks/every-store/sync.ts';
import { enqueuedAt, outboxRow, type StoreForTest } from '../support/deliveries.ts';
import { PostgresServer } from './postgres-server.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(() => server?.stop());

async function postgresForTest(): Promise<StoreForTest> {
  const address = await server.database();
  const open = async () => {
    const store = await PostgresStore.open(address);
    onTestFinished(() => store.close());
    return store;
  };
  return { store: await open(), another: open };
}

describe('PostgreSQL', () => {
  describeKeeping(postgresForTest);
  describePasses(postgresForTest);
  describeSync(async () => ({ postbacks: { store: await server.database() } }));

  it('makes its tables once, however many workers come first', async () => {
    const address = await server.database();
    const stores = await Promise.all(Array.from({ length: 8 }, () => PostgresStore.open(address)));
    expect(new Set(stores.map(({ storeId }) => storeId)).size).toBe(1);
    await Promise.all(stores.map((store) => store.close()));
  });

  it('refuses a store of a newer version, and a database that cannot hold all characters', async () => {
    const address = await server.database();
    await (await PostgresStore.open(address)).close();
    const name = new URL(address).pathname.slice(1);
    await server.query(name, 'UPDATE offerline.migrations SET version = 999');
    await expect(PostgresStore.open(address)).rejects.toThrow(
      'was written by a newer version of offerline: it has schema 999',
    );
    await server.query(name, `CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0`);
    await expect(PostgresStore.open(server.address('latin'))).rejects.toThrow(
      `is encoded in LATIN1: make one with ENCODING 'UTF8'`,
    );
  });

  it('counts claims as abandoned once the session of their pass is gone, not before', async () => {
    const { store, another } = await postgresForTest();
    await store.importOutbox('warehouse', [outboxRow(1), outboxRow(2, { siteKey: 'other' })]);
    const now = enqueuedAt + 1000;
    const beginPassTo = async (siteKey: string) => {
      const worker = await another();
      const pass = await worker.beginPass(now);
      await pass.takeSites([siteKey], 1);
      await pass.apply({ finished: [], unsent: [], circuits: [], claims: [{ siteKey, dueBy: now, limit: 10 }] });
      return worker;
    };
    const [killed, alive] = [await beginPassTo('s'), await beginPassTo('other')];
    expect(await store.abandonedClaims()).toEqual([]);
    await killed.close();
    await vi.waitFor(async () => expect(await store.abandonedClaims()).toEqual([{ siteKey: 's', claimed: 1 }]));
    await alive.close();
    await vi.waitFor(async () => expect(await store.abandonedClaims()).toHaveLength(2));
  });

  it('is away for one that was stopped in a transaction for too long, as for any that has lost its session', async () => {
    const { store } = await postgresForTest();
    const { session } = store as PostgresStore;
    await session.run(`SET idle_in_transaction_session_timeout = '50ms'`);
    const stopped = session.transaction(async () => {
      for (;;) {
        // Nothing is heard meanwhile, as in a process that is stopped.
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
        await session.query('SELECT');
      }
    });
    await expect(stopped).rejects.toThrow(StoreAwayError);
  });

  it('tells every change once, in the order of their numbers, while several write', async () => {
    const { store, another } = await postgresForTest();
    const writers = await Promise.all(Array.from({ length: 4 }, () => another()));
    const seen: string[] = [];
    let upTo = 0;
    const read = async () => {
      const page = await store.changesSince(upTo, 50);
      upTo = page.upTo;
      seen.push(...page.postbacks.map(({ webhookId }) => webhookId));
    };
    const writing = { goesOn: true };
    const written = Promise.all(
      writers.map(async (writer, place) => {
        for (let number = 1; number <= 50; number++)
          await writer.importOutbox(`warehouse ${place}`, [outboxRow(number, { webhookId: `w${place}-${number}` })]);
      }),
    ).then(() => (writing.goesOn = false));
    while (writing.goesOn) await read();
    await written;
    for (let before = -1; before !== upTo;) {
      before = upTo;
      await read();
    }
    expect(seen).toHaveLength(200);
    expect(new Set(seen).size).toBe(200);
  });
});
