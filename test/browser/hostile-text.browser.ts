import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { PipelineUnderTest } from '../support/pipeline-under-test.ts';
import { closeBrowser, openConsole } from './support/opened-console.ts';
import { everyPage } from './support/every-page.ts';

afterAll(closeBrowser);

const asOf = '2025-03-10T12:00:00Z';
/** Texts that would show if they became markup, a handler or a formula. */
const hostile = [
  `<img src=x onerror="document.body.append('broken out')">`,
  `"><script>document.title='broken out'</script>`,
  `</title></pre></table><b id="broken-out">x</b>`,
  `' onmouseover='alert(1)`,
  `{{constructor.constructor('alert(1)')()}}`,
  `=HYPERLINK("https://elsewhere.example")`,
  `\u202Egnp.exe`,
];

it('hostile text stays text in titles, rejects, errors, ids and addresses', async () => {
  const postback = { url: 'https://publisher.example/?secret=in-the-address&click={click_id}' };
  const sites = [{ site_key: `<i>"'site`, name: hostile[0], site_secret: 'a-secret-that-is-long-enough', postback }];
  const pipeline = await PipelineUnderTest.create(new Date(asOf), { sites });
  onTestFinished(() => pipeline[Symbol.asyncDispose]());
  await pipeline.landOffers(
    'net',
    hostile.map((text, index) => ({
      id: index + 1,
      external_id: `e${text}`,
      title: text,
      description: text,
      payout: '1',
    })),
  );
  await pipeline.landLog('clicks', 'ndjson', [
    ...hostile.map((text, index) => ({
      click_id: `<u>${index}"'`,
      offer_id: index + 1,
      site_key: `<i>"'site`,
      user_id: text,
      sub1: text,
      clicked_at: '2025-03-10T09:00:00Z',
    })),
    ...hostile.map((text) => ({ click_id: text, offer_id: text, clicked_at: text })),
  ]);
  await pipeline.landLog('conversions', 'ndjson', [
    {
      conversion_id: '<s>1',
      click_id: `<u>0"'`,
      kind: 'credit',
      occurred_at: '2025-03-10T10:00:00Z',
      reason: hostile[1],
    },
  ]);
  const folder = join(pipeline.data.landing, 'clicks/<b>broken');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, `"onload=.ndjson.gz`), hostile.join('\n'));
  await pipeline.refresh('2025-03-10T11:00:00Z');
  await pipeline.refresh(asOf);

  // The clock goes on, so that no rate limit is reached.
  let clock = Date.parse(asOf);
  const { visit, page, complaints, address } = await openConsole(pipeline.data, { now: () => (clock += 100) });
  const texts: string[] = [];
  const searches = hostile.flatMap((text) =>
    ['/offers?search=', '/search?id=', '/offers?sort=', '/offers?snapshot=', '/clicks/'].map(
      (start) => start + encodeURIComponent(text),
    ),
  );
  for (const path of [...(await everyPage(pipeline.data)), '/offers/2', '/offers/3', ...searches]) {
    expect([200, 303, 400, 404, 410], path).toContain(await visit(path));
    expect(await page.locator('#broken-out, main img, main script, main i, main u, main s, main b').count(), path).toBe(
      0,
    );
    expect(await page.title(), path).toMatch(/ · offerline$/);
    texts.push(await page.locator('main').innerText());
    await page.waitForTimeout(100);
  }
  const all = texts.join('\n');
  for (const text of hostile.slice(0, 3)) expect(all).toContain(text);
  expect(all).not.toMatch(/^broken out$/m);
  expect(all).not.toContain('a-secret-that-is-long-enough');
  expect(all).not.toContain('in-the-address');
  expect(complaints).toEqual([]);

  const csv = await (await page.request.get(`${address}/offers?csv=offers`)).text();
  expect(csv).toContain(`"'=HYPERLINK(""https://elsewhere.example"")"`);
});
