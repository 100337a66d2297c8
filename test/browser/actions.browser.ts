import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, expect, it, onTestFinished, vi } from 'vitest';
import { SqliteStore } from '../../src/postbacks/store/sqlite-store.ts';
import { acquireWriterLock } from '../../src/pipeline/runs/lock.ts';
import { command } from '../support/commands.ts';
import { outboxRow } from '../support/deliveries.ts';
import { PipelineUnderTest } from '../support/pipeline-under-test.ts';
import { startService } from '../support/running-service.ts';
import { closeBrowser, openConsole } from './support/opened-console.ts';

afterAll(closeBrowser);

const asOf = '2025-03-10T12:00:00Z';
const secret = 'a-secret-of-the-only-site';

async function network(postback?: { url: string }): Promise<PipelineUnderTest> {
  const sites = [{ site_key: 's', site_secret: secret, ...(postback && { postback }) }];
  const pipeline = await PipelineUnderTest.create(new Date(asOf), { sites, settings: { lock_wait_seconds: 0 } });
  onTestFinished(() => pipeline[Symbol.asyncDispose]());
  await pipeline.landOffers('net', offers(12));
  await pipeline.refresh(asOf);
  return pipeline;
}

const offers = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    id: index + 1,
    external_id: `x${index}`,
    title: `O${index}`,
    payout: '1',
  }));

/** Goes from the form of a page over its preview to the end of the job, by keyboard only. */
async function act(page: Page, title: string): Promise<string> {
  await page.getByRole('button', { name: `${title}: preview` }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: /: preview$/ }).waitFor();
  await page.locator('main form.action button').focus();
  await page.keyboard.press('Enter');
  return endOfJob(page);
}

async function endOfJob(page: Page): Promise<string> {
  await page.waitForURL(/\/actions\/(?!.*preview)/);
  // The page reloads while the job runs; only that of one that has ended says when.
  await page.locator('main dt', { hasText: 'Ended' }).waitFor({ timeout: 60_000 });
  return page.locator('main').innerText();
}

async function audit({ data }: PipelineUnderTest): Promise<{ type: string; action?: string; user?: string }[]> {
  const text = await readFile(join(data.console, 'actions.ndjson'), 'utf8');
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string });
}

it('a held export is accepted, and the feed changes', async () => {
  const pipeline = await network();
  await pipeline.landOffers('net', offers(4));
  await pipeline.refresh('2025-03-10T13:00:00Z');
  const service = await startService(pipeline.data);
  onTestFinished(() => service.service.close());
  const feed = async () =>
    (await service.json(`/c/api/v1/offers?site_key=s&site_secret=${secret}`)) as { offers: unknown[] };
  expect((await feed()).offers).toHaveLength(12);

  const { visit, page, complaints } = await openConsole(pipeline.data);
  await visit('/files?status=held');
  await page.locator('main tbody a[href^="/files/"]').first().click();
  await page.getByRole('button', { name: 'Accept it: preview' }).click();
  expect(await page.locator('main').innerText()).toContain('8 of 12 active offers');
  await page.goBack();
  await act(page, 'Accept it');
  await visit('/runs');
  await act(page, 'Refresh now');
  await service.service.poll();
  expect((await feed()).offers).toHaveLength(4);
  expect(await audit(pipeline)).toMatchObject([
    { type: 'intent', action: 'accept-export', user: 'local operator', counts: { offers_removed: 8 } },
    { type: 'outcome', state: 'done', exit_code: 0, counts: { exports_accepted: 1 }, error: null },
    { type: 'intent', action: 'refresh' },
    { type: 'outcome' },
  ]);
  expect((await stat(join(pipeline.data.console, 'actions.ndjson'))).mode & 0o777).toBe(0o600);
  expect(complaints).toEqual([]);
});

it('all dead postbacks of a filter over four pages reach a real receiver under their ids', async () => {
  const received: string[] = [];
  const receiver = createServer((request, response) => {
    received.push(String(request.headers['webhook-id']));
    response.end();
  });
  await new Promise<void>((resolve) => {
    receiver.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => void receiver.close());
  vi.stubEnv('OFFERLINE_ALLOW_PRIVATE_POSTBACKS', '1');
  onTestFinished(() => void vi.unstubAllEnvs());
  const pipeline = await network({ url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/` });
  const store = SqliteStore.open(pipeline.data);
  const rows = Array.from({ length: 350 }, (_, index) =>
    outboxRow(index + 1, { siteKey: index < 330 ? 's' : 'other' }),
  );
  await store.importOutbox('warehouse', rows);
  store.database.write(() => store.database.prepare(`UPDATE postbacks SET state = 'dead'`).run());
  const ids = store.database.prepare(`SELECT webhook_id FROM postbacks WHERE site_key = 's'`).all() as {
    webhook_id: string;
  }[];
  await store.close();

  const { visit, page } = await openConsole(pipeline.data);
  await visit('/postbacks?state=dead&site=s');
  expect(await page.locator('main').innerText()).toMatch(/1 to 100 of 330/);
  await act(page, 'Retry all 330');
  await command(pipeline.data.root, 'postbacks', 'deliver');
  expect(received.toSorted()).toEqual(ids.map(({ webhook_id }) => webhook_id).toSorted());
});

it('a stale preview is refused, and shown again', async () => {
  const pipeline = await network();
  const { visit, page } = await openConsole(pipeline.data);
  await visit('/runs');
  await page.getByRole('button', { name: 'Refresh now: preview' }).click();
  await pipeline.landOffers('net', offers(13));
  const [answer] = await Promise.all([
    page.waitForResponse((response) => response.request().method() === 'POST'),
    page.locator('main form.action button').click(),
  ]);
  expect(answer.status()).toBe(409);
  expect(await page.locator('main').innerText()).toContain('no longer those of the preview');
  await page.locator('main form.action button').click();
  await endOfJob(page);
  expect(await pipeline.ask('SELECT count(*) AS offers FROM offers')).toEqual([{ offers: 13 }]);
});

it('a double click is one job', async () => {
  const pipeline = await network();
  await pipeline.landOffers('net', offers(14));
  const { visit, page } = await openConsole(pipeline.data);
  await visit('/runs');
  await page.getByRole('button', { name: 'Refresh now: preview' }).click();
  await page.locator('main form.action button').dblclick();
  await endOfJob(page);
  expect((await audit(pipeline)).map(({ type }) => type)).toEqual(['intent', 'outcome']);
});

it('a busy warehouse is reported', async () => {
  const pipeline = await network();
  const { visit, page } = await openConsole(pipeline.data);
  await writeFile(
    join(pipeline.data.landing, 'offers/net/more.ndjson'),
    '{"external_id":"y","title":"Y","payout":"1"}\n',
  );
  await visit('/runs');
  await page.getByRole('button', { name: 'Refresh now: preview' }).click();
  await page.locator('main form.action button').waitFor();
  // Another run starts between preview and job.
  const lock = await acquireWriterLock(pipeline.data, {
    command: 'run refresh',
    waitSeconds: 0,
    onWaiting: () => undefined,
  });
  onTestFinished(() => lock.release());
  await page.locator('main form.action button').click();
  await page.waitForLoadState();
  expect(await page.locator('main').innerText()).toMatch(/busy|warehouse/);
});
