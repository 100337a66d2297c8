import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { UsageError } from '../../src/kit/errors/errors.ts';
import { PostgresStore } from '../../src/fleet/postgres-deliveries/postgres-store.ts';
import { outboxRow } from '../support/deliveries.ts';
import { PgBouncer } from './pgbouncer.ts';
import { PostgresServer } from './postgres-server.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(() => server?.stop());

async function opened(address: string): Promise<PostgresStore> {
  const store = await PostgresStore.open(address);
  onTestFinished(() => store.close());
  return store;
}

it.each([
  { pool_mode: 'transaction' },
  { pool_mode: 'transaction', default_pool_size: 1 },
  { pool_mode: 'transaction', server_round_robin: 1 },
  { pool_mode: 'transaction', server_round_robin: 1, min_pool_size: 8 },
])('a pool by transaction is refused before it holds anything: %o', async (settings) => {
  const pool = await PgBouncer.forTest(server, settings);
  const direct = await server.database();
  const refused = await PostgresStore.open(pool.address(direct)).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(UsageError);
  expect((refused as Error).message).toMatch(/a transaction-mode pool .*pool_mode = session/);
  expect((refused as Error).message).not.toContain(server.password);
  const name = new URL(direct).pathname.slice(1);
  expect(await server.query(name, `SELECT FROM pg_namespace WHERE nspname = 'offerline'`)).toEqual([]);
});

it('a pool that deals them out by statement is refused', async () => {
  const pool = await PgBouncer.forTest(server, { pool_mode: 'statement' });
  await expect(PostgresStore.open(pool.address(await server.database()))).rejects.toThrow(
    /statement pooling|by transaction/,
  );
});

it("behind a pool that keeps sessions a site is one pass's, and free once that has ended", async () => {
  const pool = await PgBouncer.forTest(server, { pool_mode: 'session' });
  const address = pool.address(await server.database());
  const [one, other] = [await opened(address), await opened(address)];
  await one.importOutbox('warehouse', [outboxRow(1)]);
  const siteKey = (await other.due(Number.MAX_SAFE_INTEGER))[0]?.siteKey ?? '';
  const pass = await one.beginPass(Number.MAX_SAFE_INTEGER);
  expect(await pass.takeSites([siteKey], 1)).toHaveLength(1);
  const waiting = await other.beginPass(Number.MAX_SAFE_INTEGER);
  expect(await waiting.takeSites([siteKey], 1)).toEqual([]);
  await one.close();
  expect(await waiting.takeSites([siteKey], 1)).toHaveLength(1);
});
