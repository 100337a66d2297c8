import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeEach, expect, it, onTestFinished } from 'vitest';
import type { DataDirectory } from '../../src/kit/config/data-directory.ts';
import { addUser } from '../../src/console/access/users.ts';
import { smallData } from '../e2e/small-data.ts';
import { closeBrowser, openConsole, type OpenedConsole } from './support/opened-console.ts';

afterAll(closeBrowser);

let data: DataDirectory;
let opened: OpenedConsole;
beforeEach(async () => {
  const pipeline = await smallData();
  onTestFinished(() => pipeline[Symbol.asyncDispose]());
  await pipeline.refresh('2025-03-10T12:00:00Z');
  ({ data } = pipeline);
  opened = await openConsole(data);
});

/** A page of somebody else's on this machine, whose form sends itself to the console. */
async function foreignPage(to: string): Promise<string> {
  const server = createServer((_request, response) =>
    response
      .setHeader('content-type', 'text/html')
      .end(`<form method="post" action="${to}"><input name="x" value="1"><button>Win a prize</button></form>`),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

it('a form of another page starts nothing, although the browser is signed in', async () => {
  const { page, address } = opened;
  await page.goto(await foreignPage(`${address}/actions/refresh/preview`));
  const [answer] = await Promise.all([
    page.waitForResponse((response) => response.url().startsWith(address)),
    page.getByRole('button').click(),
  ]);
  expect(answer.status()).toBe(403);
});

it('a name that was made to point here gets nothing', async () => {
  const { newContext, address } = opened;
  const page = await (await newContext()).newPage();
  // The browser of these tests finds this name at 127.0.0.1, as after DNS rebinding.
  const answer = await page.goto(address.replace('127.0.0.1', 'rebound.example'));
  expect(answer?.status()).toBe(421);
});

it('a viewer sees all and starts nothing', async () => {
  const { newContext, address } = opened;
  const token = await addUser(data.consoleUsersFile, { name: 'ann', role: 'viewer' });
  const page = await (await newContext()).newPage();
  await page.goto(`${address}/runs`);
  await page.getByLabel('Token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL(`${address}/runs`);
  expect(await page.locator('main form[method=post]').count()).toBe(0);
  const status = await page.evaluate(
    async () => (await fetch('/actions/refresh/preview', { method: 'POST', body: new URLSearchParams() })).status,
  );
  expect(status).toBe(403);
});

it('a link that was used lets nobody in', async () => {
  const { newContext, address, console } = opened;
  const link = console.issueLink();
  const statuses: number[] = [];
  for (let time = 0; time < 2; time++) {
    const page = await (await newContext()).newPage();
    await page.goto(address + link);
    const [answer] = await Promise.all([
      page.waitForResponse((response) => response.request().method() === 'POST'),
      page.getByRole('button', { name: 'Enter' }).click(),
    ]);
    statuses.push(answer.status());
  }
  expect(statuses).toEqual([303, 410]);
});

it('who guesses tokens is told to wait', async () => {
  const { newContext, address } = opened;
  const page = await (await newContext()).newPage();
  const statuses: number[] = [];
  for (let guess = 0; guess < 6; guess++) {
    await page.goto(`${address}/sign-in`);
    await page.getByLabel('Token').fill(`guess-${guess}`);
    const [answer] = await Promise.all([
      page.waitForResponse((response) => response.request().method() === 'POST'),
      page.getByRole('button', { name: 'Sign in' }).click(),
    ]);
    statuses.push(answer.status());
  }
  // The link that let this test in was one of the five that an address may try in a minute.
  expect(statuses).toEqual([401, 401, 401, 401, 429, 429]);
});
