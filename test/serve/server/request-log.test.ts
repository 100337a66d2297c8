import { beforeEach, expect, onTestFinished, test } from 'vitest';
import type { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { temporaryData, writeSites } from '../../support/published-snapshot.ts';
import { serviceForTest } from '../../support/running-service.ts';
import type { RunningService } from '../../support/running-service.ts';
import { publishSmallNetwork } from '../../support/small-network.ts';

let running: RunningService;
let data: DataDirectory;

beforeEach(async () => {
  const temporary = await temporaryData();
  data = temporary.data;
  onTestFinished(temporary.remove);
  await publishSmallNetwork(temporary.data);
  running = await serviceForTest(temporary.data);
});

const secret = 'site-c-secret-0123456789';

/**
 * What is logged of some requests. The last line is written when its answer has left: after the close at the latest.
 */
async function logOf(path: string, ...methods: string[]): Promise<object[]> {
  running.log.length = 0;
  for (const method of methods) expect(await (await running.get(path, { method })).text()).not.toContain(secret);
  await running.service.close();
  return running.log;
}

test('a request leaves one line with method, path, status, duration and id', async () => {
  expect(await logOf(`/c/api/v1/offers?site_key=site-c&site_secret=${secret}`, 'GET')).toMatchObject([
    {
      msg: 'answered',
      method: 'GET',
      path: '/c/api/v1/offers',
      status: 200,
      ms: expect.any(Number),
      request_id: expect.stringMatching(/^[\da-f-]{36}$/),
    },
  ]);
});

test.each([
  `/c/api/v1/offers?site_key=site-c&site_secret=${secret}`,
  `/c/api/v1/offers?site_key=site-c&site_secret=${secret}&type=none`,
  `/nowhere?site_secret=${secret}`,
  `/c/api/v1/offers&site_key=site-c&site_secret=${secret}`,
  `/c/api/v1/offers;site_secret=${secret}`,
  `/c/api/v1/offers%3Fsite_secret=${secret}`,
  `/c/api/v1/%zz?site_secret=${secret}`,
])('no secret is logged or answered: %s', async (path) => {
  const log = await logOf(path, 'GET', 'POST');
  expect(log).toHaveLength(2);
  expect(JSON.stringify(log)).not.toContain(secret);
});

test('a secret that is too short is warned about, not shown', async () => {
  await writeSites(data, [{ site_key: 'careless', site_secret: 'hunter2' }]);
  await running.service.poll();
  const text = JSON.stringify(running.log);
  expect(text).toContain('careless');
  expect(text).not.toContain('hunter2');
});
