import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { exitCode } from '../../../src/kit/errors/errors.ts';
import { acquireDeliveryLock } from '../../../src/postbacks/store/delivery-lock.ts';
import { SqliteStore } from '../../../src/postbacks/store/sqlite-store.ts';
import { deliverAfterRefresh, deliverPostbacks } from '../../../pipelines/postbacks.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { noProgress } from '../../../src/kit/logging/progress.ts';
import { command, endOf, usageErrorOf } from '../../support/commands.ts';
import { outboxRow } from '../../support/deliveries.ts';
import { temporaryData } from '../../support/published-snapshot.ts';

const secret = 'a-secret-that-nobody-must-see';
const silent = { logger: createLogger({ write: () => true }, 'silent'), progress: noProgress };

let data: DataDirectory;
let removeData: () => Promise<void>;
/** Requests that a receiver at `/s` got; it answers with `status`. */
let received: { path: string; webhookId: string }[];
let status: number;
let host: string;
const receiver = createServer((request, response) => {
  received.push({ path: request.url ?? '', webhookId: String(request.headers['webhook-id']) });
  response.writeHead(status).end();
});

beforeEach(async () => {
  ({ data, remove: removeData } = await temporaryData());
  [received, status] = [[], 200];
  await new Promise<void>((resolve) => {
    receiver.listen(0, '127.0.0.1', resolve);
  });
  host = `127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  await writeFile(
    data.sitesFile,
    JSON.stringify({
      sites: [
        { site_key: 's', site_secret: secret, postback: { url: `http://${host}/s?token=${secret}&who={user_id}` } },
        { site_key: 'silent', site_secret: secret },
      ],
    }),
  );
  process.env['OFFERLINE_ALLOW_PRIVATE_POSTBACKS'] = '1';
});

afterEach(async () => {
  delete process.env['OFFERLINE_ALLOW_PRIVATE_POSTBACKS'];
  await new Promise((resolve) => {
    receiver.close(resolve);
  });
  await removeData();
});

async function enqueue(...rows: ReturnType<typeof outboxRow>[]): Promise<void> {
  const store = SqliteStore.open(data);
  await store.importOutbox('warehouse', rows);
  await store.close();
}

const run = (...words: string[]) => command(data.root, 'postbacks', ...words);
const json = async (...words: string[]): Promise<any> => JSON.parse(await run(...words, '--json'));

describe('postbacks deliver', () => {
  it('sends what is due and counts it', async () => {
    await enqueue(outboxRow(1), outboxRow(2, { siteKey: 'silent' }));
    expect(await json('deliver', '--dry-run')).toEqual({
      due: [
        { site_key: 's', due: 1, waits_for: '' },
        { site_key: 'silent', due: 1, waits_for: 'a postback address' },
      ],
    });
    expect(received).toEqual([]);
    expect(await json('deliver')).toEqual({ due: 2, delivered: 1, failed: 0, dead: 0, postponed: 1, remaining: 1 });
    expect(received.map(({ webhookId }) => webhookId)).toEqual(['w1']);
    expect(await run('deliver')).toMatch(/due {2}delivered {2}failed {2}dead {2}postponed {2}remaining\n +1 +0 /);
  });

  it('refuses private networks unless they are allowed, as a failed attempt', async () => {
    delete process.env['OFFERLINE_ALLOW_PRIVATE_POSTBACKS'];
    await enqueue(outboxRow(1));
    expect(await json('deliver')).toMatchObject({ failed: 1 });
    expect(received).toEqual([]);
    expect((await json('show', 'w1')).postbacks[0]).toMatchObject({
      state: 'pending',
      attempts: 1,
      last_status: null,
      last_error: 'refused_address',
    });
    // Tables name what lifts it.
    expect(await run('list')).toContain('OFFERLINE_ALLOW_PRIVATE_POSTBACKS=1');
  });

  it('lists what waits for an earlier event of its click, and is no reason for a pass', async () => {
    delete process.env['OFFERLINE_ALLOW_PRIVATE_POSTBACKS'];
    await enqueue(outboxRow(1, { clickId: 'one' }), outboxRow(2, { clickId: 'one', conversionId: 'another' }));
    expect(await json('deliver')).toMatchObject({ due: 2, failed: 1, postponed: 1 });
    expect(await json('deliver', '--dry-run')).toEqual({
      due: [{ site_key: 's', due: 1, waits_for: 'an earlier event of its click' }],
    });
  });

  it('waits for another pass as configured, then exits 3; at the end of a refresh it leaves the work to that', async () => {
    await writeFile(data.settingsFile, '{"lock_wait_seconds": 0}');
    await enqueue(outboxRow(1));
    const lock = await acquireDeliveryLock(data, { command: 'postbacks deliver', waitSeconds: 0, onWaiting: () => {} });
    await expect(run('deliver')).rejects.toMatchObject({
      exitCode: exitCode.busy,
      message: expect.stringMatching(/^The delivery of postbacks is busy: "postbacks deliver" \(process \d+/) as string,
    });
    expect(await deliverAfterRefresh(data, silent)).toBeNull();
    lock.release();
    expect(await deliverAfterRefresh(data, silent)).toMatchObject({ delivered: 1 });
  });

  it('sends to the address that a site has got while another pass went on', async () => {
    await enqueue(outboxRow(1));
    const lock = await acquireDeliveryLock(data, { command: 'postbacks deliver', waitSeconds: 0, onWaiting: () => {} });
    const sites = [{ site_key: 's', site_secret: secret, postback: { url: `http://${host}/moved` } }];
    const write = () => {
      writeFileSync(data.sitesFile, JSON.stringify({ sites }));
      lock.release();
      return true;
    };
    const terminal = { ...silent, logger: createLogger({ write }) };
    const summary = await deliverPostbacks({ data, terminal, command: 'test', waitSeconds: 60 });
    expect(summary).toMatchObject({ delivered: 1 });
    expect(received).toMatchObject([{ path: expect.stringMatching(/^.moved/) as string }]);
  });
});

describe('postbacks list and show', () => {
  it('filter by site, state and time, the newest event first', async () => {
    await enqueue(
      outboxRow(1, { occurredAt: '2026-11-20T08:00:00Z' }),
      outboxRow(2, { occurredAt: '2026-11-20T09:00:00.000001Z' }),
      outboxRow(3, { occurredAt: '2026-11-20T09:00:00Z' }),
      outboxRow(4, { siteKey: 'silent', occurredAt: '2026-11-20T09:00:00Z' }),
    );
    const listed = async (...words: string[]) =>
      (await json('list', ...words)).postbacks.map(
        (postback: { webhook_id: string }) => postback.webhook_id,
      ) as string[];
    expect(await listed()).toEqual(['w2', 'w4', 'w3', 'w1']);
    expect(await listed('--since', '2026-11-20T09:00:00Z', '--until', '2026-11-20T10:00:00.000001+01:00')).toEqual([
      'w4',
      'w3',
    ]);
    expect(await listed('--site', 's', '--limit', '2')).toEqual(['w2', 'w3']);
    await run('deliver');
    expect(await listed('--state', 'delivered')).toEqual(['w2', 'w3', 'w1']);
    expect(await run('list', '--limit', '1')).toMatch(/3 more; --limit shows them\n$/);
  });

  it('show every attempt, by webhook or conversion id, and neither secret nor address', async () => {
    await enqueue(
      outboxRow(1, { conversionId: 'c', kind: 'chargeback' }),
      outboxRow(2, { conversionId: 'c', clickId: 'k1', occurredAt: '2026-11-20T09:00:00Z' }),
    );
    status = 503;
    await run('deliver');
    const { postbacks } = await json('show', 'c');
    expect(postbacks.map(({ event, state, attempts_made }: any) => [event, state, attempts_made.length])).toEqual([
      ['credit', 'pending', 1],
      ['chargeback', 'pending', 0],
    ]);
    expect(postbacks[0].attempts_made[0]).toEqual({
      attempt: 1,
      started_at: expect.stringMatching(/Z$/),
      duration_ms: expect.any(Number),
      status: 503,
      error: 'http_status',
      host,
    });
    const shown = [
      await run('show', 'w2'),
      await run('show', 'w2', '--json'),
      await run('list'),
      await run('test', 's').catch((error: Error) => error.message),
    ].join('\n');
    expect(shown).toContain(host);
    expect(shown).not.toContain(secret);
    expect(shown).not.toContain('token');
    expect(await usageErrorOf(data.root, 'postbacks', 'show', 'w9')).toContain(
      'no postback with the webhook or conversion id "w9"',
    );
  });
});

describe('postbacks retry', () => {
  it('makes pending ones due, and status says so long as a site takes nothing', async () => {
    await enqueue(outboxRow(1), outboxRow(2));
    status = 503;
    await run('deliver');
    const { stdout, code } = await endOf(data.root, 'status');
    expect(code).toBe(1);
    expect(stdout).toMatch(/site s has taken nothing for \d+ \w+: 2 wait, last HTTP 503/);
    const doctor = await endOf(data.root, 'doctor');
    process.exitCode = exitCode.done;
    expect(doctor.stdout).toMatch(
      /TROUBLE {2}deliveries: site s has taken nothing for \d+ \w+: 2 wait, last HTTP 503\n.*`offerline postbacks test s`/,
    );
    expect(stdout).toContain('offerline postbacks test s');
    const [, cure = ''] = /`offerline postbacks (retry [^`]*)`/.exec(doctor.stdout) ?? [];
    status = 200;
    expect(await json(...cure.split(' '))).toEqual({ revived: 2, dry_run: false });
    await run('deliver');
    expect((await endOf(data.root, 'status')).stdout).not.toContain('has taken nothing');
  });

  it('revives the dead ones that are named, and no others', async () => {
    await enqueue(outboxRow(1), outboxRow(2), outboxRow(3, { occurredAt: '2026-11-19T00:00:00Z' }), outboxRow(4));
    status = 410;
    expect(await json('deliver')).toMatchObject({ dead: 4 });
    expect(await usageErrorOf(data.root, 'postbacks', 'retry')).toContain('--all');
    expect(await json('retry', '--all', '--dry-run')).toMatchObject({ revived: 4, dry_run: true });
    expect(await usageErrorOf(data.root, 'postbacks', 'retry', 'w1', 'w9')).toContain('w9');
    expect(await json('retry', 'w1', 'c2')).toEqual({ revived: 2, dry_run: false });
    expect(await json('retry', '--site', 's', '--until', '2026-11-20T00:00:00Z')).toEqual({
      revived: 1,
      dry_run: false,
    });
    [received, status] = [[], 200];
    expect(await json('deliver')).toMatchObject({ delivered: 3, remaining: 0 });
    expect(received.map(({ webhookId }) => webhookId).toSorted()).toEqual(['w1', 'w2', 'w3']);
    expect(await json('retry', '--all')).toEqual({ revived: 1, dry_run: false });
  });
});

describe('postbacks test', () => {
  it('sends a signed postback of reward 0 that is written down nowhere', async () => {
    const sent = await json('test', 's');
    expect(sent).toMatchObject({ site_key: 's', delivered: true, host, status: 200, error: null });
    expect(sent.click_id).toMatch(/^test-/);
    expect(received).toHaveLength(1);
    const { searchParams } = new URL(received[0]?.path ?? '', 'http://receiver');
    expect(Object.fromEntries(searchParams)).toMatchObject({
      event: 'credit',
      reward: '0',
      click_id: sent.click_id,
      site_key: 's',
      who: 'test',
      signature: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(await json('list')).toEqual({ count: 0, postbacks: [] });
  });

  it('fails with the reason', async () => {
    status = 302;
    await expect(run('test', 's')).rejects.toMatchObject({
      exitCode: exitCode.failed,
      message: `the test postback to site s at ${host} failed: redirect (status 302)`,
    });
    expect(await usageErrorOf(data.root, 'postbacks', 'test', 'nobody')).toContain('there is no site nobody');
    expect(await usageErrorOf(data.root, 'postbacks', 'test', 'silent')).toContain('has no postback address');
  });
});
