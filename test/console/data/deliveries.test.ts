import { rm } from 'node:fs/promises';
import { expect, it, onTestFinished } from 'vitest';
import type { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { defaultSettings } from '../../../src/kit/config/settings.ts';
import { LiveDeliveries } from '../../../src/console/live/deliveries.ts';
import { SqliteStore } from '../../../src/postbacks/store/sqlite-store.ts';
import { outboxRow } from '../../support/deliveries.ts';
import { temporaryData } from '../../support/published-snapshot.ts';

async function addPostbacks(data: DataDirectory, ...numbers: number[]): Promise<void> {
  const store = SqliteStore.open(data);
  await store.importOutbox(
    'first',
    numbers.map((number) => outboxRow(number)),
  );
  await store.close();
}

it('shows postbacks that other processes add, and a store that replaces the first one', async () => {
  const { data, remove } = await temporaryData();
  onTestFinished(remove);
  const deliveries = new LiveDeliveries(data, defaultSettings);
  const count = async () => (await deliveries.read({}, { first: 0, rows: 10 }))?.count;

  expect([await count(), await deliveries.show('w1')]).toEqual([undefined, undefined]);
  await addPostbacks(data, 1, 2);
  expect(await count()).toBe(2);
  await addPostbacks(data, 3);
  expect([await count(), (await deliveries.show('w3'))?.length]).toEqual([3, 1]);

  await rm(data.deliveriesFile);
  expect(await count()).toBeUndefined();
  await addPostbacks(data, 7);
  expect([await count(), (await deliveries.show('w3'))?.length]).toEqual([1, 0]);
});
