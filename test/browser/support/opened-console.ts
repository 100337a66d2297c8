import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import type { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { readSettings } from '../../../src/kit/config/settings.ts';
import { createConsole, type Console } from '../../../src/console/console.ts';
import { launcher } from '../../support/command-line.ts';

let browser: Promise<Browser> | undefined;

/** The browser of a test file, which calls `closeBrowser` in its `afterAll`. */
function theBrowser(): Promise<Browser> {
  return (browser ??= chromium.launch({
    executablePath: process.env['OFFERLINE_TEST_CHROMIUM'] ?? '',
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--host-resolver-rules=MAP *.example 127.0.0.1'],
  }));
}

export async function closeBrowser(): Promise<void> {
  await (await browser)?.close();
  browser = undefined;
}

export interface OpenedConsole {
  console: Console;
  /** Such as `http://127.0.0.1:40123`. */
  address: string;
  /** The browser's window, signed in as an operator. */
  page: Page;
  context: BrowserContext;
  /** Faults: requests to other hosts, violations of the policy, errors of scripts, dialogs. */
  complaints: string[];
  /** A new window without a session, or with other options. */
  newContext: (options?: Parameters<Browser['newContext']>[0]) => Promise<BrowserContext>;
  /** Loads a page; returns the status. */
  visit: (path: string) => Promise<number>;
}

/** Starts a console on a free port and opens it in the browser, signed in by its link; closed when the test ends. */
export async function openConsole(
  data: DataDirectory,
  { now = Date.now, context: contextOptions = {} }: { now?: () => number; context?: object } = {},
): Promise<OpenedConsole> {
  const console = await createConsole({
    data,
    settings: readSettings(data),
    log: pino({ level: 'silent' }),
    launcher,
    now,
    repeat: () => () => undefined,
  });
  onTestFinished(() => console.close());
  const address = await console.listen({ host: '127.0.0.1', port: 0 });
  const { newContext, complaints } = watchedBrowser(address);
  const context = await newContext(contextOptions);
  const page = await context.newPage();
  await page.goto(address + console.issueLink());
  await page.getByRole('button', { name: 'Enter' }).click();
  await page.waitForURL(`${address}/`);
  const visit = async (path: string) => (await page.goto(address + path))?.status() ?? 0;
  return { console, address, page, context, complaints, newContext, visit };
}

/** Windows of the test's browser, closed when it ends, and faults of their pages, which are all at one address. */
export function watchedBrowser(address: string): Pick<OpenedConsole, 'newContext' | 'complaints'> {
  const complaints: string[] = [];
  return {
    complaints,
    newContext: async (options: object = {}) => {
      const context = await (await theBrowser()).newContext(options);
      onTestFinished(() => context.close());
      context.on('page', (page) => watch(page, address, complaints));
      return context;
    },
  };
}

function watch(page: Page, address: string, complaints: string[]): void {
  page.on('request', (request) => {
    if (!request.url().startsWith(`${address}/`)) complaints.push(`request to another host: ${request.url()}`);
  });
  // The browser logs violations of the policy as errors.
  page.on('console', (message) => {
    const isStatus = message.text().startsWith('Failed to load resource');
    if (['error', 'warning'].includes(message.type()) && !isStatus) complaints.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`));
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
}
