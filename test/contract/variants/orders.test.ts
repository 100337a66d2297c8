import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { execFile, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { realEffects } from '../../../src/kit/files/effects.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { noProgress } from '../../../src/kit/logging/progress.ts';
import { readSites } from '../../../src/kit/sites/sites.ts';
import { realLeaseClocks, writeHeldLease } from '../../../src/pipeline/runs/held-lease.ts';
import { RoleNote } from '../../../src/pipeline/runs/storage-role.ts';
import { signatureOf } from '../../../src/postbacks/http/signature.ts';
import { deliverDue } from '../../../src/postbacks/pass/deliver-due.ts';
import { SqliteStore } from '../../../src/postbacks/store/sqlite-store.ts';
import { outboxRow, receiver } from '../../support/deliveries.ts';
import { temporaryData, writeSites } from '../../support/published-snapshot.ts';
import { startService, type RunningService } from '../../support/running-service.ts';
import { publishSmallNetwork } from '../../support/small-network.ts';

const own = { site_key: 'own', site_secret: 'the-secret-of-the-own-site' };
const other = { site_key: 'other', site_secret: 'the-secret-of-the-other-site' };
const late = { site_key: 'late', site_secret: 'the-secret-of-the-late-site' };

let data: DataDirectory;
let remove: () => Promise<void>;
let running: RunningService;
let now = Date.UTC(2026, 10, 20, 12);
const received: { request: IncomingMessage; body: any }[] = [];
let status = 200;
async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  received.push({ request, body: JSON.parse(await text(request)) });
  response.writeHead(status).end();
}
const publisher = createServer((request, response) => void receive(request, response));

beforeAll(async () => {
  await new Promise<void>((resolve) => publisher.listen(0, '127.0.0.1', resolve));
  ({ data, remove } = await temporaryData());
  await publishSmallNetwork(data);
  const url = `http://127.0.0.1:${(publisher.address() as AddressInfo).port}/told?token=kept-from-logs`;
  await writeSites(data, [{ ...own, postback: { url, method: 'POST' } }, { ...other }, { ...late, status: 'pending' }]);
  await inStore((store) =>
    store.importOutbox('first', [
      outboxRow(1, { siteKey: 'own', webhookId: 'own/1 ü' }),
      outboxRow(2, { siteKey: 'other', webhookId: 'others' }),
    ]),
  );
  running = await startService(data, {}, () => now, { OFFERLINE_ALLOW_PRIVATE_POSTBACKS: '1' });
});

afterAll(async () => {
  await running.service.close();
  publisher.close();
  await remove();
});

async function inStore<Result>(work: (store: SqliteStore) => Promise<Result>): Promise<Result> {
  const store = SqliteStore.open(data);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** One pass at this moment; returns what went out. */
async function pass(): Promise<string[]> {
  const { sites } = readSites(data.sitesFile);
  const sender = receiver();
  const terminal = { logger: createLogger({ write: () => true }, 'silent'), progress: noProgress };
  await inStore((store) => deliverDue({ ...terminal, store, sites, sender, now: () => now }));
  return sender.sent;
}

const resend = (id: string) => `/c/api/v1/postbacks/${encodeURIComponent(id)}/resend`;

test('a delivered postback is sent again, once for an order that names its attempts', async () => {
  expect(await pass()).toEqual(['own/1 ü']);
  const order = { ...own, attempts: '1' };
  now += 60_000;
  const first = await running.post(resend('own/1 ü'), order, 202);
  expect(first).toMatchObject({
    postback_id: 'own/1 ü',
    resent: true,
    state: 'pending',
    attempts: 1,
    next_attempt_at: '2026-11-20T12:01:00+00:00',
    message: expect.stringContaining('within a minute'),
  });
  // Answered: on the disk, for any process.
  expect(await inStore((store) => store.unfinished())).toBe(2);
  // The client did not hear the answer, before the pass and after it.
  expect(await running.post(resend('own/1 ü'), order, 202)).toMatchObject({ resent: false, state: 'pending' });
  expect(await pass()).toEqual(['own/1 ü']);
  expect(await running.post(resend('own/1 ü'), order, 202)).toMatchObject({
    resent: false,
    state: 'delivered',
    attempts: 2,
    message: expect.stringContaining('more often than this order knows'),
  });
  expect(await pass()).toEqual([]);
  // Without that number each request is an order of its own; JSON and the bare host are as good.
  const bare = await running.get(resend('own/1 ü').replace('/c/', '/'), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...own, attempts: 2 }),
  });
  expect([bare.status, ((await bare.json()) as any).resent]).toEqual([202, true]);
  expect(await pass()).toEqual(['own/1 ü']);
  const unnamed = await running.post(resend('own/1 ü'), own, 202);
  expect(unnamed).toMatchObject({ resent: true, message: expect.stringContaining('name attempts=3') });
  expect(await pass()).toEqual(['own/1 ü']);
  expect(await running.post(resend('own/1 ü'), { ...own, attempts: '3' }, 202)).toMatchObject({ resent: false });
});

test('a test says at once what the address answered, and its signature is right', async () => {
  expect(await running.post('/c/api/v1/postbacks/test', own)).toMatchObject({
    delivered: true,
    status: 200,
    error: null,
  });
  const [{ request, body }] = received.slice(-1) as [(typeof received)[number]];
  expect(body).toMatchObject({
    event: 'credit',
    site_key: 'own',
    reward: 0,
    click_id: expect.stringMatching(/^test-/),
  });
  const { event, click_id: clickId, user_id: userId } = body;
  const webhookId = String(request.headers['webhook-id']);
  expect(body.signature).toBe(
    signatureOf(own.site_secret, { webhookId, event, siteKey: 'own', userId, clickId, reward: '0' }),
  );
  status = 500;
  expect(await running.post('/c/api/v1/postbacks/test', own)).toMatchObject({
    delivered: false,
    status: 500,
    error: 'http_status',
    host: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
  });
  status = 200;
  expect((await running.post('/c/api/v1/postbacks/test', other, 404)).error.message).toContain('no postback address');
});

test('the lines of the guide do both', async ({ skip }) => {
  if (spawnSync('curl', ['--version']).error !== undefined) skip('there is no curl here');
  await inStore(async (store) => {
    await store.importOutbox('second', [outboxRow(3, { siteKey: 'own', webhookId: 'pb_3' })]);
  });
  await pass();
  const guide = readFileSync(new URL('../../../src/serve/publishers.md', import.meta.url), 'utf8');
  const lines = /### Getting a postback again\n[^]*?```sh\n([^]*?)```/.exec(guide)?.[1] ?? '';
  const { site_key: SITE_KEY, site_secret: SITE_SECRET } = own;
  const env = { ...process.env, BASE: running.address, SITE_KEY, SITE_SECRET, POSTBACK_ID: 'pb_3' };
  const { stdout } = await promisify(execFile)('sh', ['-ec', lines.replaceAll(/^curl.*$/gm, '$&; echo')], { env });
  expect(
    stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown),
  ).toMatchObject([
    { postback_id: 'pb_3', resent: true, state: 'pending' },
    { delivered: true, status: 200 },
  ]);
});

describe('refused', () => {
  test.each([
    ['without credentials', {}, 400, 'MISSING_CREDENTIALS'],
    ['with a wrong secret', { ...own, site_secret: 'x' }, 401, 'INVALID_CREDENTIALS'],
    ['with a secret given twice', 'site_key=own&site_secret=x&site_secret=x', 401, 'INVALID_CREDENTIALS'],
    ['of a site that waits', late, 403, 'SITE_PENDING'],
    ['with a wrong number', { ...own, attempts: '1.0' }, 422, 'INVALID_PARAMETER'],
    ['of another site’s postback', own, 404, 'NOT_FOUND'],
    ['as a list', '[]', 400, 'BAD_REQUEST'],
    ['as something nested', '{"site_key":{}}', 400, 'BAD_REQUEST'],
    ['too long', `site_key=${'x'.repeat(5000)}`, 400, 'BAD_REQUEST'],
  ])('%s', async (_how, body, expected, code) => {
    now += 3_600_000;
    const asJson = typeof body === 'string' && /^[[{]/.test(body);
    const answer = await running.get(resend('others'), {
      method: 'POST',
      body: typeof body === 'string' ? body : new URLSearchParams(body as Record<string, string>),
      headers: { 'content-type': asJson ? 'application/json' : 'application/x-www-form-urlencoded' },
    });
    expect([answer.status, ((await answer.json()) as any).error.code]).toEqual([expected, code]);
    expect(await inStore(async (store) => (await store.find({ site: 'other' }, 1))[0]?.nextAttemptAt)).toBe(
      '2026-11-20T10:00:00Z',
    );
  });

  test('by other methods and kinds of bodies, and with credentials in the address', async () => {
    const query = new URLSearchParams(own).toString();
    for (const path of [resend('others'), '/c/api/v1/postbacks/test', '/api/v1/postbacks/test']) {
      const asked = await running.get(`${path}?${query}`);
      expect([asked.status, asked.headers.get('allow')]).toEqual([405, 'POST']);
      expect((await running.get(`${path}?${query}`, { method: 'POST' })).status).toBe(400);
      expect((await running.get(path, { method: 'POST', body: 'x' })).status).toBe(400);
    }
    const list = await running.get('/c/api/v1/postbacks', { method: 'POST', body: new URLSearchParams(own) });
    expect([list.status, list.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  test('beyond 60 orders an hour, in a bucket of their own', async () => {
    now += 3_600_000;
    for (let order = 0; order < 60; order++) await running.post(resend('others'), { ...own, attempts: 'x' }, 422);
    const { error } = await running.post('/c/api/v1/postbacks/test', own, 429);
    expect(error.code).toBe('RATE_LIMIT_EXCEEDED');
    expect((await running.get(`/c/api/v1/postbacks?${new URLSearchParams(own).toString()}`)).status).toBe(200);
    now += 3_600_000;
  });
});

test('where another machine delivers, an order may be repeated, and changes nothing here', async () => {
  onTestFinished(() => rmSync(data.settingsFile));
  const url = 's3://bucket/network';
  const storage = { url, endpoint: 'http://127.0.0.1:1', access_key_id: 'an-id', secret_access_key: 'a-secret-key' };
  writeFileSync(data.settingsFile, JSON.stringify({ storage }));
  // Runs are begun by cron.
  await running.post(resend('unknown'), own, 404);
  const kept = () => inStore(async (store) => (await store.show('own/1 ü'))[0]?.postback);
  const before = await kept();
  const log = createLogger({ write: () => true }, 'silent');
  const note = new RoleNote(data.scheduleRoleFile, url, { effects: realEffects, logger: log });
  await note.report({ role: 'stands_by', writer: 'another' });
  expect((await running.post(resend('unknown'), own, 503)).error.message).toContain('same order');
  expect(JSON.stringify(running.log)).toContain('serves what another one publishes');
  await running.post(resend('own/1 ü'), own, 503);
  // Its schedule was killed, and another machine may have taken over.
  await note.report({ role: 'writes' });
  for (const id of ['unknown', 'own/1 ü']) await running.post(resend(id), own, 503);
  expect(await kept()).toEqual(before);
  const until = { steady: realLeaseClocks.steady() + 60_000, wall: realLeaseClocks.wall() + 60_000 };
  await writeHeldLease(data, { epoch: 1, until }, realEffects);
  await running.post(resend('unknown'), own, 404);
  await running.post(resend('own/1 ü'), own, 202);
});

test('where deliveries cannot be used, the order may be repeated', async () => {
  const { deliveriesFile } = data;
  for (const file of [deliveriesFile, `${deliveriesFile}-wal`, `${deliveriesFile}-shm`]) rmSync(file, { force: true });
  expect(existsSync(deliveriesFile)).toBe(false);
  await running.post(resend('own/1 ü'), own, 404);
  const fs = await import('node:fs/promises');
  await fs.writeFile(deliveriesFile, 'this is no database, but a text that is long enough to be one'.repeat(20));
  expect((await running.post(resend('own/1 ü'), own, 503)).error.message).toContain('same order');
  const lines = JSON.stringify(running.log);
  expect(lines).toContain('is damaged');
  for (const secret of [own.site_secret, 'kept-from-logs']) expect(lines).not.toContain(secret);
});
