import { get } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { feedOffer, makeCurrent, temporaryData, writeSites, writeSnapshot } from '../../support/published-snapshot.ts';
import { serviceForTest } from '../../support/running-service.ts';
import { slow } from '../../support/slow.ts';

test('an answer under way is finished before the service is closed', slow, async () => {
  const { data, remove } = await temporaryData();
  onTestFinished(remove);
  await writeSites(data, [{ site_key: 's', site_secret: 'a-long-enough-secret' }]);
  // More than the sockets' buffers hold, so that the answer cannot have left before the client reads it.
  const description = 'x'.repeat(1_000_000);
  const offers = Array.from({ length: 30 }, (_, place) =>
    feedOffer({ id: place + 1, descriptions: { en: description } }),
  );
  await writeSnapshot(data, 'one', { offers });
  await makeCurrent(data, 'one');
  const running = await serviceForTest(data);
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    get(`${running.address}/c/api/v1/reports?site_key=s&site_secret=a-long-enough-secret`, resolve).on('error', reject);
  });
  let closed = false;
  const closing = running.service.close().then(() => (closed = true));
  // What still arrives meanwhile is answered.
  expect(await running.json('/healthz')).toEqual({ status: 'ok' });
  expect(closed).toBe(false);
  let bytes = 0;
  for await (const chunk of answer) bytes += (chunk as Buffer).length;
  expect(bytes).toBe(Number(answer.headers['content-length']));
  expect(bytes).toBeGreaterThan(30_000_000);
  await closing;
  await expect(running.get('/healthz')).rejects.toThrow();
});

test('a snapshot that comes while the service stops is taken up without an error', async () => {
  const { data, remove } = await temporaryData();
  onTestFinished(remove);
  await writeSites(data, [{ site_key: 's', site_secret: 'a-long-enough-secret' }]);
  await writeSnapshot(data, 'one', { offers: [feedOffer({ id: 1 })] });
  await makeCurrent(data, 'one');
  const running = await serviceForTest(data);
  await writeSnapshot(data, 'two', { offers: [feedOffer({ id: 2 })] });
  await makeCurrent(data, 'two');
  const closing = running.service.close();
  await running.service.poll();
  await closing;
  expect(running.log.filter(({ level }) => level >= 40)).toEqual([]);
  expect(running.log).toContainEqual(expect.objectContaining({ snapshot_id: 'two', msg: 'serving snapshot' }));
});
