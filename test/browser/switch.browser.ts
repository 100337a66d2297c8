import { afterAll, expect, it } from 'vitest';
import { currentName } from '../../src/pipeline/snapshot/snapshot-store.ts';
import { command } from '../support/commands.ts';
import { closeBrowser, openConsole } from './support/opened-console.ts';
import { sharedNetwork } from './support/networks.ts';

afterAll(closeBrowser);

it('a page announces a new snapshot, does not change by itself, and addresses of the old snapshot stay valid', async () => {
  const data = await sharedNetwork();
  const before = (await currentName(data)) ?? '';
  const { visit, page, console, complaints } = await openConsole(data);
  await visit('/offers');
  const shown = await page.locator('main').innerText();

  await command(data.root, 'run', 'refresh', '--as-of', '2025-03-11T09:00:00Z');
  const after = (await currentName(data)) ?? '';
  expect(after).not.toBe(before);
  await console.poll();
  await page.getByRole('status').getByText(`A new snapshot is published, ${after}`).waitFor();
  expect(await page.locator('main').innerText()).toBe(shown);

  await page.getByRole('link', { name: 'show it' }).click();
  await page.waitForFunction((id) => globalThis.document.body.dataset['snapshot'] === id, after);
  expect(await page.locator('main').innerText()).not.toBe(shown);

  expect(await visit(`/offers?snapshot=${before}`)).toBe(200);
  expect(await page.locator('main').innerText()).toBe(shown);
  expect(await page.locator('header').innerText()).toContain('not the current snapshot');
  expect(complaints).toEqual([]);

  expect(await visit('/offers?snapshot=00000099-20250101T000000Z')).toBe(410);
  expect(await page.locator('main').innerText()).toContain('is no longer kept');
});
