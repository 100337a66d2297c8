import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type AxeBuilder from 'axe-core';
import type { Page } from 'playwright-core';
import { afterAll, describe, expect, it } from 'vitest';
import { closeBrowser, openConsole } from './support/opened-console.ts';
import { everyPage } from './support/every-page.ts';
import { randomNetwork } from './support/networks.ts';

afterAll(closeBrowser);

const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/** Findings of axe on a page, by WCAG 2.2 AA and its own best practices. */
async function findings(page: Page): Promise<string[]> {
  // The debugger is not bound by the page's policy.
  await page.evaluate(axe);
  return page.evaluate(async () => {
    const { violations } = await (globalThis as unknown as { axe: typeof AxeBuilder }).axe.run();
    return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`));
  });
}

describe.each([
  { colorScheme: 'light', viewport: { width: 1440, height: 900 } },
  { colorScheme: 'dark', viewport: { width: 1440, height: 900 } },
  { colorScheme: 'light', viewport: { width: 320, height: 640 } },
  { colorScheme: 'dark', viewport: { width: 320, height: 640 } },
] as const)('in $colorScheme at $viewport.width pixels', (context) => {
  it('axe finds nothing on any page, and no page is wider than the window', async () => {
    const data = await randomNetwork(7);
    const { visit, page } = await openConsole(data, { context });
    for (const path of await everyPage(data)) {
      expect(await visit(path), path).toBe(200);
      expect(await findings(page), path).toEqual([]);
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      expect(width, path).toBeLessThanOrEqual(context.viewport.width);
    }
  });
});
