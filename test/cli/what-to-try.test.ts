import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { waysToBegin, whatToTry } from '../../src/cli/what-to-try.ts';
import { usageErrorOf } from '../support/commands.ts';
import { temporaryData, writeSites } from '../support/published-snapshot.ts';
import { serviceForTest } from '../support/running-service.ts';
import { publishSmallNetwork } from '../support/small-network.ts';

describe('what a command that serves prints to try', () => {
  it.each(['A', 'B', 'C'] as const)('is a command that a site of Variant %s is answered by', async (variant) => {
    const { data, remove } = await temporaryData();
    onTestFinished(remove);
    await publishSmallNetwork(data);
    const site = { site_key: 'own site', site_secret: 'the-secret-of-the-own-site', variant };
    await writeSites(data, [site]);
    const running = await serviceForTest(data);
    const printed = whatToTry(data, running.address, { news: 'landing', publicSecrets: new Set([site.site_secret]) });
    const [, url = ''] = /^ {2}curl '([^']+)'$/m.exec(printed) ?? [];
    expect(url).toContain(`${running.address}/${variant.toLowerCase()}/api/`);
    expect((await running.get(url.slice(running.address.length))).status).toBe(200);
  });

  it.each([
    ['landing', /Land more files/],
    ['storage', /the machine that writes publishes/],
    ['none', /no newer one/],
  ] as const)('says how news come by %s', async (news, line) => {
    const { data, remove } = await temporaryData();
    onTestFinished(remove);
    await writeSites(data, []);
    const printed = whatToTry(data, 'http://127.0.0.1:8080', { news });
    expect(printed).toMatch(line);
    expect(printed.includes('landing/')).toBe(news === 'landing');
  });
});

it('the example is named as a first step where it is, and not in an image without it', () => {
  expect(waysToBegin('pass --demo')).toMatch(/add`, begin with a copy of \/.*data\/example, or pass --demo$/);
  expect(waysToBegin('pass --demo', '/no/such/example')).toMatch(/add`, or pass --demo$/);
});

it('a first site in a directory that does not exist needs that to be made', async () => {
  const { data, remove } = await temporaryData();
  onTestFinished(remove);
  const root = join(data.root, 'mine');
  expect(await usageErrorOf(root, 'sites', 'add', 'wall')).toContain(
    `${root} does not exist: make it by mkdir -p, set`,
  );
});
