import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { DeliveryStore } from '../../src/postbacks/store/delivery-store.ts';
import { DeliveryQueue } from '../../src/postbacks/store/delivery-queue.ts';
import { DataDirectory } from '../../src/config/data-directory.ts';
import { delivered, enqueuedAt, outboxRow, storeForTest } from '../support/deliveries.ts';
import { temporaryData } from '../support/published-snapshot.ts';

function claimAll(queue: DeliveryQueue, limit = 10) {
  return queue
    .apply({ finished: [], unsent: [], circuits: [], claims: [{ siteKey: 's', dueBy: enqueuedAt, limit }] })
    .flat();
}

function deliverOne(queue: DeliveryQueue): void {
  const finished = claimAll(queue, 1).map(({ sequence, postback: { siteKey, clickId } }) => ({
    sequence,
    siteKey,
    clickId,
    attempts: 1,
    planAttempts: 1,
    startedAt: enqueuedAt + 1000,
    outcome: delivered,
    state: 'delivered' as const,
    nextAttemptAt: null,
  }));
  expect(finished).toHaveLength(1);
  queue.apply({ finished, unsent: [], circuits: [], claims: [] });
}

describe('the store of deliveries', () => {
  it('takes each postback over once, whichever warehouse brings it', async () => {
    const store = await storeForTest();
    expect(store.importedUpTo('first')).toBe(0);
    expect(store.importOutbox('first', [outboxRow(1), outboxRow(2)]).added).toBe(2);
    expect(store.importOutbox('first', [outboxRow(2), outboxRow(5)]).added).toBe(1);
    expect(
      store.importOutbox('second', [outboxRow(3, { webhookId: 'w5', reward: '9' }), outboxRow(4, { webhookId: 'w9' })])
        .added,
    ).toBe(1);
    expect([store.importedUpTo('first'), store.importedUpTo('second')]).toEqual([5, 4]);
    expect(store.changesSince(0).postbacks.map(({ webhookId, reward }) => [webhookId, reward])).toEqual([
      ['w1', '0.5'],
      ['w2', '0.5'],
      ['w5', '0.5'],
      ['w9', '0.5'],
    ]);
  });

  it('takes over all rows or none', async () => {
    const store = await storeForTest();
    const breaking = function* () {
      yield outboxRow(1);
      throw new Error('the warehouse broke off');
    };
    expect(() => store.importOutbox('first', breaking())).toThrow('broke off');
    expect([store.importedUpTo('first'), store.changesSince(0).postbacks]).toEqual([0, []]);
  });

  it('gives back what it was given, to the microsecond', async () => {
    const store = await storeForTest();
    const row = outboxRow(1, {
      occurredAt: '2026-11-20T09:59:00.000001Z',
      userId: 'ü & \u0000',
      reward: '0.0001',
      kind: 'chargeback',
    });
    store.importOutbox('first', [row]);
    const { number: _number, ...kept } = row;
    expect(store.changesSince(0).postbacks).toEqual([
      {
        ...kept,
        state: 'pending',
        attempts: 0,
        lastAttemptAt: null,
        lastStatus: null,
        lastError: null,
        deliveredAt: null,
        nextAttemptAt: row.enqueuedAt,
      },
    ]);
  });

  it('tells every change once, in pages of any size', async () => {
    const store = await storeForTest();
    const queue = new DeliveryQueue(store.database);
    store.importOutbox('first', [outboxRow(1), outboxRow(2), outboxRow(3), outboxRow(4)]);
    const known = store.changesSince(0).upTo;
    for (let attempts = 0; attempts < 3; attempts++) deliverOne(queue);
    for (const limit of [1, 2, 3, 100]) {
      const told = { postbacks: [] as string[], attempts: [] as string[] };
      for (let upTo = known, before = -1; upTo !== before;) {
        const page = store.changesSince(upTo, limit);
        told.postbacks.push(...page.postbacks.map(({ webhookId, state }) => `${webhookId} ${state}`));
        told.attempts.push(
          ...page.attempts.map(({ webhookId, attempt, status }) => `${webhookId} ${attempt} ${status}`),
        );
        [before, upTo] = [upTo, page.upTo];
      }
      expect(told, `pages of ${limit}`).toEqual({
        postbacks: ['w1 delivered', 'w2 delivered', 'w3 delivered'],
        attempts: ['w1 1 200', 'w2 1 200', 'w3 1 200'],
      });
    }
  });

  it('lets a refresh write while another connection is open, and says the same from there', async () => {
    const store = await storeForTest();
    const other = DeliveryStore.open(new DataDirectory(dirname(dirname(store.database.file))));
    try {
      expect(other.storeId).toBe(store.storeId);
      store.importOutbox('first', [outboxRow(1)]);
      other.importOutbox('first', [outboxRow(2)]);
      expect(store.changesSince(0)).toEqual(other.changesSince(0));
      expect(store.changesSince(0).postbacks).toHaveLength(2);
    } finally {
      other.close();
    }
  });

  it('says what to do about a file that is none of its own', async () => {
    const { data, remove } = await temporaryData();
    onTestFinished(remove);
    await mkdir(data.postbacks);
    await writeFile(data.deliveriesFile, 'something else, long enough to be a database with a header of its own');
    expect(() => DeliveryStore.open(data)).toThrow(
      `${data.deliveriesFile} is damaged: file is not a database. \`offerline run refresh\` puts it aside and makes a new one from what the warehouse knows`,
    );
    await rm(data.deliveriesFile);
    const store = DeliveryStore.open(data);
    store.database.prepare('PRAGMA user_version = 999').run();
    store.close();
    expect(() => DeliveryStore.open(data)).toThrow('was written by another version of offerline (999 instead of');
  });

  it('is brought back without sending again what was delivered', async () => {
    const lost = await storeForTest();
    lost.importOutbox('first', [outboxRow(1), outboxRow(2)]);
    deliverOne(new DeliveryQueue(lost.database));
    const { postbacks } = lost.changesSince(0);
    const found = await storeForTest();
    expect(found.storeId).not.toBe(lost.storeId);
    expect(found.restore(postbacks)).toBe(2);
    expect(found.importOutbox('first', [outboxRow(1), outboxRow(2), outboxRow(3)]).added).toBe(1);
    const queue = new DeliveryQueue(found.database);
    expect(claimAll(queue).map(({ postback }) => postback.webhookId)).toEqual(['w2', 'w3']);
    const sorted = (states: typeof postbacks) => states.toSorted((a, b) => a.webhookId.localeCompare(b.webhookId));
    expect(sorted(found.changesSince(0).postbacks).filter(({ webhookId }) => webhookId === 'w1')).toEqual(
      postbacks.filter(({ webhookId }) => webhookId === 'w1'),
    );
  });
});
