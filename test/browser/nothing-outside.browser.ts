import { afterAll, expect, it } from 'vitest';
import { closeBrowser, openConsole } from './support/opened-console.ts';
import { everyPage } from './support/every-page.ts';
import { sharedNetwork } from './support/networks.ts';

afterAll(closeBrowser);

/** Milliseconds between two pages: more than twenty in a second are refused. */
const pause = 60;

it('no page loads anything from other hosts, breaks the policy or fails', async () => {
  const data = await sharedNetwork();
  const { visit, page, complaints } = await openConsole(data);
  for (const path of await everyPage(data)) {
    expect(await visit(path), path).toBe(200);
    expect(await page.title(), path).toMatch(/ · offerline$/);
    await page.waitForTimeout(pause);
  }
  expect(complaints).toEqual([]);
});

it('no page lacks anything where scripts are off', async () => {
  const data = await sharedNetwork();
  const { address, context, newContext, console } = await openConsole(data);
  const without = await newContext({ javaScriptEnabled: false });
  const page = await without.newPage();
  await page.goto(address + console.issueLink());
  await page.getByRole('button', { name: 'Enter' }).click();
  const withScript = await context.newPage();
  for (const path of await everyPage(data)) {
    expect((await page.goto(address + path))?.status(), path).toBe(200);
    await withScript.goto(address + path);
    const [plain, scripted] = await Promise.all([page, withScript].map((each) => each.locator('main').innerText()));
    expect(plain, path).toBe(scripted);
    await page.waitForTimeout(2 * pause);
  }
  await page.goto(`${address}/try-file`);
  const buffer = Buffer.from('click_id;site_key\nc-1;wall\n');
  await page.setInputFiles('input[type=file]', { name: 'a.csv', mimeType: 'text/csv', buffer });
  await page.getByLabel('Its records are').selectOption('clicks');
  await page.getByRole('button', { name: 'Try it' }).click();
  await page.getByRole('heading', { name: 'Columns of the file' }).waitFor();
});
