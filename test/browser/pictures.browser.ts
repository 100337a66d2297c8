import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { afterAll, describe, expect, it } from 'vitest';
import { closeBrowser, openConsole } from './support/opened-console.ts';
import { asOf, sharedNetwork } from './support/networks.ts';

afterAll(closeBrowser);

/** `OFFERLINE_ACCEPT_PICTURES=1 npm run -s test:browser -- pictures` accepts the pages as they are. */
const isAccepting = process.env['OFFERLINE_ACCEPT_PICTURES'] === '1';
const folder = fileURLToPath(new URL('pictures/', import.meta.url));

/** Pictures are a third of their page: they show its layout and colours, and no letters, which differ by machine. */
const scale = 1 / 3;
/** Of 255; a letter that a machine draws elsewhere differs by less at this size. */
const maxDifference = 48;
/** Share of pixels that may differ by more. */
const maxShare = 0.02;

/** Share of the pixels that differ. Pictures of another size differ where only one of them has pixels. */
async function differingShare(page: Page, accepted: Buffer, taken: Buffer): Promise<number> {
  const compared = { pictures: [accepted, taken].map((each) => each.toString('base64')), maxDifference };
  return page.evaluate(async ({ pictures, maxDifference: most }) => {
    const images = await Promise.all(
      pictures.map(async (text) =>
        createImageBitmap(new Blob([Uint8Array.from(atob(text), (each) => each.charCodeAt(0))])),
      ),
    );
    const width = Math.max(...images.map((image) => image.width));
    const height = Math.max(...images.map((image) => image.height));
    const [one, other] = images.map((image) => {
      const context = new OffscreenCanvas(width, height).getContext('2d');
      context?.drawImage(image, 0, 0);
      return context?.getImageData(0, 0, width, height).data;
    });
    if (one === undefined || other === undefined) throw new Error('there is no canvas');
    let differing = 0;
    for (let at = 0; at < one.length; at += 4)
      if ([0, 1, 2, 3].some((channel) => Math.abs((one[at + channel] ?? 0) - (other[at + channel] ?? 0)) > most))
        differing++;
    return differing / (width * height);
  }, compared);
}

describe.each([
  {
    name: 'wide',
    colorScheme: 'light',
    viewport: { width: 1440, height: 900 },
    paths: ['/design', '/', '/offers', '/sites'],
  },
  // Colours of the other theme are all on /design.
  { name: 'wide-dark', colorScheme: 'dark', viewport: { width: 1440, height: 900 }, paths: ['/design', '/'] },
  {
    name: 'narrow',
    colorScheme: 'light',
    viewport: { width: 390, height: 844 },
    paths: ['/design', '/', '/offers', '/sites'],
  },
] as const)('$name', ({ name, colorScheme, viewport, paths }) => {
  it('pages look as they were accepted', async () => {
    const now = Date.parse(asOf) + 60_000;
    const context = { colorScheme, viewport, deviceScaleFactor: scale };
    // The clock goes on a little, so that no rate limit is reached.
    let clock = now;
    const { visit, page } = await openConsole(await sharedNetwork(), { context, now: () => (clock += 100) });
    await mkdir(folder, { recursive: true });
    const shares: [page: string, share: number][] = [];
    for (const path of paths) {
      expect(await visit(path), path).toBe(200);
      const file = `${folder}${path.slice(1) || 'overview'}-${name}.png`;
      const taken = await page.screenshot({ fullPage: path === '/design' });
      if (isAccepting) await writeFile(file, taken);
      shares.push([path, await differingShare(page, await readFile(file), taken)]);
    }
    expect(shares.filter(([, share]) => share > maxShare)).toEqual([]);
    // A picture of another page is another one.
    const [design, other] = await Promise.all(
      ['design', 'overview'].map((each) => readFile(`${folder}${each}-${name}.png`)),
    );
    if (design === undefined || other === undefined) throw new Error('there is no picture');
    expect(await differingShare(page, design, other)).toBeGreaterThan(maxShare);
  });
});
