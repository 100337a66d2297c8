import { get } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { feedOffer, makeCurrent, temporaryData, writeSites, writeSnapshot } from '../../support/published-snapshot.ts';
import { serviceForTest } from '../../support/running-service.ts';
import { slow } from '../../support/slow.ts';

const secret = 'a-long-enough-secret';

test('pages are refused while too much waits for clients that do not read, and only then', slow, async () => {
  const { data, remove } = await temporaryData();
  onTestFinished(remove);
  const keys = ['one', 'two', 'three', 'four', 'five'];
  await writeSites(
    data,
    keys.map((site_key) => ({ site_key, site_secret: secret, variant: site_key === 'five' ? 'B' : 'C' })),
  );
  // Far more than the sockets' buffers hold; five pages are more than may wait, four are not.
  const description = 'x'.repeat(1_000_000);
  await writeSnapshot(data, 'one', {
    offers: Array.from({ length: 30 }, (_, place) => feedOffer({ id: place + 1, descriptions: { en: description } })),
  });
  await makeCurrent(data, 'one');
  const running = await serviceForTest(data);
  const pathOf = (key: string, base = '/c') => `${base}/api/v1/offers?site_key=${key}&site_secret=${secret}`;
  const unsent = async () =>
    Number(/^offerline_unsent_bytes (\d+)$/m.exec(await (await running.get('/metrics')).text())?.[1]);

  const unread: IncomingMessage[] = [];
  onTestFinished(() => unread.forEach((answer) => answer.destroy()));
  // A page is in memory once, however many are taking it.
  for (const key of ['one', 'one', 'one', 'two', 'three', 'four']) {
    unread.push(
      await new Promise<IncomingMessage>(
        (resolve, reject) => void get(running.address + pathOf(key), resolve).on('error', reject),
      ),
    );
  }
  expect(unread.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200, 200, 200]);
  expect(await unsent()).toBeGreaterThan(4 * 30 * description.length);
  expect(await unsent()).toBeLessThanOrEqual(128 * 1024 * 1024);

  const refused = await running.get(pathOf('five'));
  expect(refused.status).toBe(503);
  expect(Object.fromEntries(refused.headers)).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'retry-after': '10',
    'cache-control': 'no-store',
    'x-snapshot-id': 'one',
    'x-api-version': '1.0',
    'x-ratelimit-limit': '10',
  });
  // As the OpenAPI document has it.
  const { paths } = await running.json('/openapi.json');
  expect(paths['/c/api/v1/offers'].get.responses[503].headers['Retry-After']).toMatchObject({
    required: false,
    schema: { type: 'integer', minimum: 1 },
  });
  expect(await refused.json()).toEqual({
    success: false,
    error: { code: 'SERVICE_UNAVAILABLE', message: expect.stringContaining('slow clients') },
  });
  // In the form of the site's variant, also where the path does not show it.
  const refusedB = await running.get(pathOf('five', ''));
  expect([refusedB.status, await refusedB.json()]).toEqual([
    503,
    { error: 'service_unavailable', message: expect.any(String) },
  ]);
  // What is short leaves all the same.
  expect(await running.json('/healthz')).toEqual({ status: 'ok' });
  expect((await running.get(`${pathOf('five')}&offset=30`)).status).toBe(200);

  for (const answer of unread) answer.destroy();
  while ((await unsent()) > 0);
  expect(await (await running.get(pathOf('five'))).json()).toMatchObject({ total: 30 });
});
