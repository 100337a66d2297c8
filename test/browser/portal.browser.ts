import { afterAll, expect, it, onTestFinished } from 'vitest';
import { readSites } from '../../src/kit/sites/sites.ts';
import { startService } from '../support/running-service.ts';
import { axeFindings } from './support/axe-findings.ts';
import { sharedNetwork } from './support/networks.ts';
import { closeBrowser, watchedBrowser } from './support/opened-console.ts';

afterAll(closeBrowser);

it('a publisher signs in without a script, and axe finds nothing on any page, wide and narrow, light and dark', async () => {
  const data = await sharedNetwork();
  const { service, address } = await startService(data, {}, Date.now);
  onTestFinished(() => service.close());
  const site = readSites(data.sitesFile).sites.find(({ status, postback }) => status === 'active' && postback);
  const { newContext, complaints } = watchedBrowser(address);
  const bare = await (await newContext({ javaScriptEnabled: false })).newPage();
  await bare.goto(`${address}/portal`);
  expect(new URL(bare.url()).pathname).toBe('/portal/sign-in');
  await bare.getByLabel('site_key').fill(site?.site_key ?? '');
  await bare.getByLabel('site_secret').fill(site?.site_secret ?? '');
  await bare.getByRole('button', { name: 'Sign in' }).click();
  expect(new URL(bare.url()).pathname).toBe('/portal');
  await bare.getByRole('link', { name: 'Postbacks' }).click();
  await bare.getByRole('button', { name: 'Send again' }).first().click();
  await bare.getByText('Ordered').or(bare.getByText('Nothing new was ordered')).waitFor();
  const cookies = await bare.context().cookies();
  for (const context of [
    { colorScheme: 'light', viewport: { width: 1440, height: 900 } },
    { colorScheme: 'dark', viewport: { width: 1440, height: 900 } },
    { colorScheme: 'light', viewport: { width: 320, height: 640 } },
  ] as const) {
    const opened = await newContext(context);
    await opened.addCookies(cookies);
    const page = await opened.newPage();
    const paths = ['', '/conversions', '/postbacks', '/feed', '/signatures', '/sign-in', '/feed?country=X1'];
    for (const path of paths) {
      await page.goto(`${address}/portal${path}`);
      expect(await axeFindings(page), path).toEqual([]);
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      expect(width, path).toBeLessThanOrEqual(context.viewport.width);
    }
  }
  expect(complaints).toEqual([]);
});
