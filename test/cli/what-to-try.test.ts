import { describe, expect, it, onTestFinished } from 'vitest';
import { whatToTry } from '../../src/cli/what-to-try.ts';
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
    const printed = whatToTry(data, running.address, { publicSecrets: new Set([site.site_secret]) });
    const [, url = ''] = /^ {2}curl '([^']+)'$/m.exec(printed) ?? [];
    expect(url).toContain(`${running.address}/${variant.toLowerCase()}/api/`);
    expect((await running.get(url.slice(running.address.length))).status).toBe(200);
  });
});
