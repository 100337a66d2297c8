import { mkdir, rm, writeFile } from 'node:fs/promises';
import { expect, it, onTestFinished } from 'vitest';
import { SqliteStore } from '../../../src/postbacks/store/sqlite-store.ts';
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
