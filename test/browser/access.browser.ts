import { afterAll, describe, expect, it } from 'vitest';
import { axeFindings } from './support/axe-findings.ts';
import { closeBrowser, openConsole } from './support/opened-console.ts';
import { everyPage } from './support/every-page.ts';
import { sharedNetwork } from './support/networks.ts';

afterAll(closeBrowser);

const contexts = [
  { colorScheme: 'light', viewport: { width: 1440, height: 900 } },
  { colorScheme: 'dark', viewport: { width: 1440, height: 900 } },
  { colorScheme: 'light', viewport: { width: 320, height: 640 } },
  { colorScheme: 'dark', viewport: { width: 390, height: 844 } },
] as const;

describe.each(contexts)('in $colorScheme at $viewport.width pixels', (context) => {
  it('axe finds nothing on any page, and no page is wider than the window', async () => {
    const data = await sharedNetwork();
    const { visit, page } = await openConsole(data, { context });
    for (const path of await everyPage(data)) {
      expect(await visit(path), path).toBe(200);
      expect(await axeFindings(page), path).toEqual([]);
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      expect(width, path).toBeLessThanOrEqual(context.viewport.width);
    }
  });
});

// Each scheme and each width once.
describe.each(contexts.slice(1, 3))('in $colorScheme at $viewport.width pixels', (context) => {
  it('axe finds nothing on the answer to a file, and it is no wider than the window', async () => {
    const { visit, page, complaints } = await openConsole(await sharedNetwork(), { context });
    expect(await visit('/try-file')).toBe(200);
    const buffer = Buffer.from(
      'Transaction ID;Click ID;Status;Datetime;Payout\nt-1;c-1;approved;17/11/2026 10:00:00;1,50\nTotal;;;;1,50\n',
    );
    await page.setInputFiles('input[type=file]', { name: 'list.csv', mimeType: 'text/csv', buffer });
    await page.getByRole('button', { name: 'Try it' }).click();
    await page.getByRole('heading', { name: 'A mapping for it' }).waitFor();
    await page.getByText('What a file does not say itself').click();
    expect(await axeFindings(page)).toEqual([]);
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(width).toBeLessThanOrEqual(context.viewport.width);
    const large = { name: 'a.csv', mimeType: 'text/csv', buffer: Buffer.alloc(20_000_001) };
    await page.setInputFiles('input[type=file]', large);
    expect(
      await page.locator('input[type=file]').evaluate((input: HTMLInputElement) => input.validationMessage),
    ).toContain('larger than 20 MB');
    expect(complaints).toEqual([]);
  });
});
