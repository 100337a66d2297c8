import { writeFile } from 'node:fs/promises';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import type { DataDirectory } from '../../src/kit/config/data-directory.ts';
import { realEffects } from '../../src/kit/files/effects.ts';
import { createLogger } from '../../src/kit/logging/log.ts';
import { noProgress } from '../../src/kit/logging/progress.ts';
import { duePostbacks, isPassDue } from '../../src/postbacks/due-postbacks.ts';
import { deliverDue } from '../../src/postbacks/pass/deliver-due.ts';
import { acquireDeliveryLock } from '../../src/postbacks/store/delivery-lock.ts';
import { SqliteStore } from '../../src/postbacks/store/sqlite-store.ts';
import { enqueuedAt, hour, outboxRow, receiver, refused, siteWith, unreachable } from '../support/deliveries.ts';
import { temporaryData } from '../support/published-snapshot.ts';

const start = enqueuedAt + 1000;

let data: DataDirectory;
let store: SqliteStore;
beforeEach(async () => {
  const { data: made, remove } = await temporaryData();
  data = made;
  await writeFile(data.sitesFile, JSON.stringify({ sites: [siteWith('s')] }));
  store = SqliteStore.open(data);
  onTestFinished(async () => {
    await store.close();
    await remove();
  });
});

const at = (now: number) => ({ ...realEffects, now: () => now });
const terminal = { logger: createLogger({ write: () => true }, 'silent'), progress: noProgress };
const pass = (now: number, sender = receiver()) =>
  deliverDue({ ...terminal, store, sites: [siteWith('s')], sender, now: () => now, random: () => 0.5 });

async function claimAsKilledPass(siteKey = 's'): Promise<void> {
  const killed = await store.beginPass(start);
  await killed.takeSites([siteKey], 1);
  await killed.apply({ finished: [], unsent: [], circuits: [], claims: [{ siteKey, dueBy: start, limit: 10 }] });
}

it('what a killed pass had claimed is due, unless a pass is under way', async () => {
  await store.importOutbox('warehouse', [outboxRow(1), outboxRow(2)]);
  await claimAsKilledPass();
  expect(await duePostbacks(data, at(start))).toEqual([{ site_key: 's', due: 2, waits_for: '' }]);
  expect(await isPassDue(data, at(start))).toBe(true);
  const request = { command: 'postbacks deliver', waitSeconds: 0, onWaiting: () => undefined };
  const lock = await acquireDeliveryLock(data, request);
  expect([await duePostbacks(data, at(start)), await isPassDue(data, at(start))]).toEqual([[], false]);
  lock.release();
  expect(await pass(start)).toMatchObject({ delivered: 2 });
  expect(await isPassDue(data, at(start))).toBe(false);
});

it('a claim of a site that is gone is a reason for one pass, and no more', async () => {
  await store.importOutbox('warehouse', [outboxRow(1, { siteKey: 'gone' })]);
  await claimAsKilledPass('gone');
  expect(await isPassDue(data, at(start))).toBe(true);
  await pass(start);
  expect(await isPassDue(data, at(start))).toBe(false);
});

it('what waits too long since the clock went back is a reason for a pass', async () => {
  await store.importOutbox('warehouse', [outboxRow(1)]);
  const ahead = start + 100 * hour;
  await pass(
    ahead,
    receiver(() => refused),
  );
  expect(await isPassDue(data, at(ahead))).toBe(false);
  expect(await isPassDue(data, at(start))).toBe(true);
  expect(await pass(start)).toMatchObject({ delivered: 0 });
  expect(await isPassDue(data, at(start))).toBe(false);
  expect(await pass(start + 5000)).toMatchObject({ delivered: 1 });
});

it('a pause that a clock ahead has set holds back no pass', async () => {
  await store.importOutbox(
    'warehouse',
    Array.from({ length: 20 }, (_, index) => outboxRow(index + 1)),
  );
  const ahead = start + 100 * hour;
  await pass(
    ahead,
    receiver(() => unreachable),
  );
  // The clock comes back, and a pass has brought forward what waits too long.
  await (await store.beginPass(start)).end();
  const [site] = await duePostbacks(data, at(start));
  expect(site).toMatchObject({ site_key: 's', waits_for: '' });
  expect(await isPassDue(data, at(start))).toBe(true);
  expect((await pass(start)).delivered).toBeGreaterThan(0);
});
