import { mkdir, rm, writeFile } from 'node:fs/promises';
import { expect, it, onTestFinished } from 'vitest';
import { SqliteStore } from '../../../src/postbacks/store/sqlite-store.ts';
import { sqliteForTest } from '../../support/deliveries.ts';
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
