import { mkdir, open, rm, writeFile } from 'node:fs/promises';
import { expect, it, onTestFinished } from 'vitest';
import { SqliteStore } from '../../../src/postbacks/store/sqlite-store.ts';
import { StoreThread } from '../../../src/postbacks/store/store-thread.ts';
import { enqueuedAt, outboxRow, sqliteForTest } from '../../support/deliveries.ts';
import { temporaryData } from '../../support/published-snapshot.ts';
import { describeKeeping } from '../../postbacks/every-store/keeping.ts';

describeKeeping(sqliteForTest);

it('says what to do about a file that is none of its own', async () => {
  const { data, remove } = await temporaryData();
  onTestFinished(remove);
  await mkdir(data.postbacks);
  await writeFile(data.deliveriesFile, 'something else, long enough to be a database with a header of its own');
  expect(() => SqliteStore.open(data)).toThrow(
    `${data.deliveriesFile} is damaged: file is not a database. \`offerline run refresh\` puts it aside and makes a new one from what the warehouse knows`,
  );
  await rm(data.deliveriesFile);
  const store = SqliteStore.open(data);
  store.database.prepare('PRAGMA user_version = 999').run();
  await store.close();
  expect(() => SqliteStore.open(data)).toThrow('was written by a newer version of offerline: it has schema 999');
});

it('lets others write while it revives many, and leaves what they have delivered meanwhile', async () => {
  const { data, remove } = await temporaryData();
  onTestFinished(remove);
  const [store, other] = [SqliteStore.open(data), SqliteStore.open(data)];
  onTestFinished(async () => void (await Promise.all([store.close(), other.close()])));
  const dead = 6_000;
  await store.importOutbox(
    'a warehouse',
    Array.from({ length: dead }, (_, index) => outboxRow(index + 1)),
  );
  store.database.prepare(`UPDATE postbacks SET state = 'dead', next_attempt_at = NULL`).run();
  const reviving = store.revive({}, enqueuedAt);
  const begun = await other.count({ state: 'pending' });
  expect(begun).toBeGreaterThan(0);
  expect(begun).toBeLessThan(dead);
  other.database.prepare(`UPDATE postbacks SET state = 'delivered' WHERE sequence = ${dead}`).run();
  expect(await reviving).toBe(dead - 1);
  expect(await other.due(enqueuedAt)).toMatchObject([{ due: dead - 1 }]);
  expect(await other.count({ state: 'delivered' })).toBe(1);
});

it('names damage that shows at work, in the thread of a pass, too, and how to mend it', async () => {
  const { data, remove } = await temporaryData();
  onTestFinished(remove);
  const store = SqliteStore.open(data);
  await store.importOutbox(
    'a warehouse',
    Array.from({ length: 2_000 }, (_, index) => outboxRow(index + 1)),
  );
  const page = (of: string) => Number(Object.values(store.database.prepare(of).get() ?? {})[0]);
  const root = page(`SELECT rootpage FROM sqlite_master WHERE name = 'postbacks_pending'`);
  const size = page('PRAGMA page_size');
  store.database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get();
  await store.close();
  const file = await open(data.deliveriesFile, 'r+');
  await file.write(Buffer.alloc(size, 0xff), 0, size, (root - 1) * size);
  await file.close();
  const damaged = /deliveries\.sqlite is damaged: .*`offerline doctor --deep --repair` puts it aside/;
  const again = SqliteStore.open(data);
  onTestFinished(() => again.close());
  await expect(again.importOutbox('a warehouse', [outboxRow(2_001)])).rejects.toThrow(damaged);
  const thread = new StoreThread(data.deliveriesFile);
  onTestFinished(() => thread.close());
  const claims = [{ siteKey: 'one', dueBy: enqueuedAt, limit: 10 }];
  await expect(thread.apply({ finished: [], unsent: [], circuits: [], claims })).rejects.toThrow(damaged);
});
