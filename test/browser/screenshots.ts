import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { pino } from 'pino';
import { DataDirectory } from '../../src/kit/config/data-directory.ts';
import { readSettings } from '../../src/kit/config/settings.ts';
import { createConsole } from '../../src/console/console.ts';
import { readAnalytics } from '../../src/pipeline/snapshot/read-analytics.ts';
import { launcher, offerline } from '../support/command-line.ts';
import { installedChromium } from './support/installed-chromium.ts';

/** `npm run screenshots`: the pictures of `src/console/README.md`, from a network that is the same every time. */

const folder = fileURLToPath(new URL('../../src/console/screenshots/', import.meta.url));
const asOf = '2026-11-20T17:30:00Z';

let clock = Date.parse(asOf) + 60_000;

const root = await mkdtemp(join(tmpdir(), 'offerline-'));
const browser = await chromium.launch({
  executablePath: installedChromium((line) => process.stderr.write(`${line}\n`)),
  args: ['--no-sandbox'],
});
try {
  const network = ['--clicks', '80000', '--days', '20', '--seed', '1', '--end', asOf];
  await run('generate', '--out', root, ...network);
  await run('run', 'refresh', '--as-of', asOf);
  await run('backfill', 'reports');
  const data = new DataDirectory(root);
  const console = await createConsole({
    data,
    settings: readSettings(data),
    log: pino({ level: 'silent' }),
    launcher,
    now: () => (clock += 1_000),
  });
  const address = await console.listen({ host: '127.0.0.1', port: 0 });
  const [found] = await readAnalytics(data.current, (query) =>
    query<{ offer_id: number; click_id: string }>(
      `SELECT
         (SELECT offer_id FROM offer_stats_2d ORDER BY rank LIMIT 1) AS offer_id,
         (SELECT click_id FROM conversions WHERE status = 'charged_back' ORDER BY credited_at DESC LIMIT 1) AS click_id`,
    ),
  );
  const shots = [
    { name: 'overview', path: '/', colorScheme: 'light' },
    { name: 'overview-dark', path: '/', colorScheme: 'dark' },
    { name: 'offers', path: '/offers', colorScheme: 'light' },
    { name: 'offer', path: `/offers/${found?.offer_id}`, colorScheme: 'light' },
    { name: 'sites', path: '/sites', colorScheme: 'light' },
    { name: 'click', path: `/clicks/${encodeURIComponent(found?.click_id ?? '')}`, colorScheme: 'light' },
    { name: 'days', path: '/days', colorScheme: 'light' },
  ] as const;
  await mkdir(folder, { recursive: true });
  const page = await browser.newPage({ viewport: { width: 1200, height: 800 } });
  await page.goto(address + console.issueLink());
  await page.getByRole('button', { name: 'Enter' }).click();
  for (const { name, path, colorScheme } of shots) {
    await page.emulateMedia({ colorScheme });
    const status = (await page.goto(address + path))?.status();
    if (status !== 200) throw new Error(`${path} answers ${status}`);
    await page.screenshot({ path: join(folder, `${name}.png`) });
    process.stderr.write(`${name}.png: ${path}\n`);
  }
  await page.goto(`${address}/try-file`);
  const list = '../../data/exports/tune-conversions/conversions.csv';
  await page.setInputFiles('input[type=file]', fileURLToPath(new URL(list, import.meta.url)));
  await page.getByRole('button', { name: 'Try it' }).click();
  await page.getByRole('heading', { name: 'A mapping for it' }).waitFor();
  await page.screenshot({ path: join(folder, 'try-file.png') });
  process.stderr.write('try-file.png: /try-file\n');
  await console.close();
} finally {
  await browser.close();
  await rm(root, { recursive: true, force: true });
}

async function run(...words: string[]): Promise<void> {
  const { code, stderr } = await offerline(root, ...words);
  if (code !== 0) throw new Error(`offerline ${words.join(' ')} ended with ${code}: ${stderr}`);
}
