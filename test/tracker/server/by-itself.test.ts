import { writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { ownLogs } from '../../../src/tracker/logs/log-names.ts';
import { route, secret, TrackerUnderTest } from '../tracker-under-test.ts';

const token = 'a-token-of-the-source-0123456789';
const link = (site: string) => `/redirect/manual-offer/1/user/u/site/${site}`;

function agree(test: TrackerUnderTest, text: string): void {
  writeFileSync(test.data.sourcesFile, text, { mode: 0o600 });
}

it('what is published, approved and agreed with a source counts a second later, without a restart', async () => {
  await using test = await TrackerUnderTest.start({ routes: [] });
  const heard = async () => (await test.ask(`/postback/north?token=${token}&click_id=nobody`)).status;
  expect([await test.outcome(link('two')), await heard()]).toEqual(['404 unknown_site', 401]);
  test.writeSites([{ site_key: 'two', site_secret: secret }]);
  await test.publish([route({ offer_id: 1 })]);
  agree(test, JSON.stringify({ sources: [{ source: 'north', postback: { token } }] }));
  expect([await test.outcome(link('two')), await heard()]).toEqual(['404 unknown_site', 401]);
  test.elapse(1000);
  expect(await test.comesTo(async () => (await test.outcome(link('two'))) === '302')).toBe(true);
  // To be asked too often would close the door.
  expect(await test.comesTo(() => test.logged.join('').includes('"sources":1,'))).toBe(true);
  expect(await heard()).toBe(404);
});

it('logs are handed to landing, and a summary of answers is logged, without a stop', async () => {
  await using test = await TrackerUnderTest.start({ routes: [route({ offer_id: 1 })] });
  expect((await test.click(1, 'u')).status).toBe(302);
  const handedOver = () => ownLogs(test.data, 'clicks').map(({ isWhole }) => isWhole);
  expect(handedOver()).toEqual([false]);
  test.elapse(60_000);
  expect(await test.comesTo(() => handedOver()[0] === true)).toBe(true);
  expect(test.rows()).toHaveLength(1);
  expect(test.logged.join('')).toContain('"clicks_click":1');
});

it('a tracker that was stopped polls nothing any more', async () => {
  await using test = await TrackerUnderTest.start({ routes: [] });
  expect(test.repeated.size).toBeGreaterThan(0);
  await test.stop();
  expect(test.repeated.size).toBe(0);
});
