import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeEach, expect, it, onTestFinished } from 'vitest';
import { smallData } from '../e2e/small-data.ts';
import { closeBrowser, openConsole, type OpenedConsole } from './support/opened-console.ts';

afterAll(closeBrowser);

let opened: OpenedConsole;
beforeEach(async () => {
  const pipeline = await smallData();
  onTestFinished(() => pipeline[Symbol.asyncDispose]());
  await pipeline.refresh('2025-03-10T12:00:00Z');
  opened = await openConsole(pipeline.data);
});

/** A foreign page on this machine, whose form sends to the console. */
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

it('a foreign name that resolves to this machine is refused', async () => {
  const { newContext, address } = opened;
  const page = await (await newContext()).newPage();
  // The browser of these tests finds this name at 127.0.0.1, as after DNS rebinding.
  const answer = await page.goto(address.replace('127.0.0.1', 'rebound.example'));
  expect(answer?.status()).toBe(421);
});
