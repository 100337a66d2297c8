import { afterAll, expect, it } from 'vitest';
import { closeBrowser, openConsole } from './support/opened-console.ts';
import { sharedNetwork } from './support/networks.ts';

afterAll(closeBrowser);

it('a time has the reader’s own on hover, an id is copied whole, and a chart shows the value under the pointer', async () => {
  const context = {
    timezoneId: 'Asia/Tokyo',
    locale: 'en-GB',
    viewport: { width: 1440, height: 900 },
    permissions: ['clipboard-read', 'clipboard-write'],
  };
  const { visit, page, complaints } = await openConsole(await sharedNetwork(), { context });
  expect(await visit('/design')).toBe(200);
  const time = page.locator('#sample time').first();
  await time.hover();
  expect(await time.getAttribute('title')).toMatch(/^20 Nov 2026, 19:00:00 .*, your time$/);

  const id = page.locator('#sample .id').first();
  expect(await id.evaluate((element) => element.scrollWidth > element.clientWidth)).toBe(true);
  await page.getByRole('button', { name: 'Copy clk_00112233445566778899aabbccddeeff' }).first().click();
  await page.locator('button.copy.done').waitFor();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('clk_00112233445566778899aabbccddeeff');

  const point = page.locator('.line-chart .point').nth(3);
  const shown = point.locator('.readout');
  const opacity = () => shown.evaluate((element) => getComputedStyle(element).opacity);
  expect(await opacity()).toBe('0');
  await point.locator('.hit').hover();
  expect(await opacity()).toBe('1');
  expect(await shown.textContent()).toBe('17 Nov: 800 clicks, a week before 700 clicks');
  expect(complaints).toEqual([]);
});
