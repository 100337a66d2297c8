import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type AxeBuilder from 'axe-core';
import type { Page } from 'playwright-core';

const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/** Findings of axe on a page, by WCAG 2.2 AA and its own best practices. */
export async function axeFindings(page: Page): Promise<string[]> {
  // The debugger is not bound by the page's policy.
  await page.evaluate(axe);
  return page.evaluate(async () => {
    const { violations } = await (globalThis as unknown as { axe: typeof AxeBuilder }).axe.run();
    return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`));
  });
}
