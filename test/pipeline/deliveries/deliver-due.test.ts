import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { createSender } from '../../../src/postbacks/http/sender.ts';
import { enqueuedAt, hour, outboxRow, siteWith, sqliteForTest } from '../../support/deliveries.ts';
import { describePasses, passesIn } from '../../postbacks/every-store/passes.ts';

const start = enqueuedAt + 1000;

describePasses(sqliteForTest);

it('ends with the reason when the store cannot be written to', async () => {
  const { store, another } = await sqliteForTest();
  const rows = Array.from({ length: 1500 }, (_, index) => outboxRow(index + 1));
  const passes = await passesIn({ store, another }, rows);
  store.database
    .prepare(`CREATE TRIGGER full BEFORE INSERT ON attempts BEGIN SELECT RAISE(FAIL, 'disk is full'); END`)
    .run();
  await expect(passes.pass(start)).rejects.toThrow('disk is full');
  store.database.prepare('DROP TRIGGER full').run();
  expect(await passes.pass(start)).toMatchObject({ due: 1500, delivered: 1500 });
});

it('what a pass may send it sends within the deadline of that look, not when a stopped process wakes up', async () => {
  const requests: string[] = [];
  const server = createServer(({ url = '' }, response) => {
    requests.push(url);
    response.end();
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const deadlineMilliseconds = 50;
  const hasty = createSender({ allowPrivate: true, deadlineMilliseconds });
  const patient = createSender({ allowPrivate: true });
  onTestFinished(() => hasty.close());
  onTestFinished(() => patient.close());
  const sites = [siteWith('s', `http://127.0.0.1:${(server.address() as AddressInfo).port}/`)];
  const passes = await passesIn(
    await sqliteForTest(),
    [1, 2, 3].map((number) => outboxRow(number)),
  );
  const mayGoOn = () => {
    const until = performance.now() + deadlineMilliseconds;
    while (performance.now() < until);
    return true;
  };
  expect(await passes.pass(start, { sites, sender: hasty, mayGoOn })).toMatchObject({ delivered: 0, failed: 3 });
  expect(requests).toEqual([]);
  expect(await passes.pass(start + hour, { sites, sender: patient })).toMatchObject({ delivered: 3 });
});
