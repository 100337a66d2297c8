import { rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname } from 'node:path';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { Webhook } from 'standardwebhooks';
import { changeState } from '../support/change-state.ts';
import { offerline } from '../support/command-line.ts';
import { command, endOf } from '../support/commands.ts';
import { PipelineUnderTest } from '../support/pipeline-under-test.ts';
import { slow } from '../support/slow.ts';

const secret = 'a secret of the postbacks’ test';
const at = (time: string) => `2025-03-10T${time}:00Z`;

interface Received {
  method: string;
  url: URL;
  headers: Record<string, string>;
  body: string;
}

/** A publisher: answers with the status that is asked for now. */
async function publisher(): Promise<{ address: string; received: Received[]; answer: (status: number) => void }> {
  const received: Received[] = [];
  let status = 200;
  const server = createServer((request, response) => {
    let body = '';
    request
      .setEncoding('utf8')
      .on('data', (text: string) => (body += text))
      .on('end', () => {
        received.push({
          method: request.method ?? '',
          url: new URL(request.url ?? '', 'http://publisher'),
          headers: request.headers as Record<string, string>,
          body,
        });
        response.writeHead(status).end();
      });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  onTestFinished(() => void server.close());
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    answer: (next) => (status = next),
  };
}

afterEach(() => {
  vi.unstubAllEnvs();
});

async function begin(address: string): Promise<PipelineUnderTest> {
  vi.stubEnv('OFFERLINE_ALLOW_PRIVATE_POSTBACKS', '1');
  const site = { site_secret: secret, commission: 0.2, reward_rate: 100 };
  const pipeline = await PipelineUnderTest.create(new Date(at('12:00')), {
    sites: [
      { ...site, site_key: 'get', postback: { url: `${address}/cb?who={user_id}&sum={reward}` } },
      { ...site, site_key: 'post', postback: { url: `${address}/hook`, method: 'POST' } },
    ],
  });
  onTestFinished(() => pipeline[Symbol.asyncDispose]());
  await pipeline.landOffers('net', [{ id: 1, external_id: 'one', title: 'One', payout: '1.5' }]);
  await pipeline.landLog(
    'clicks',
    'ndjson',
    ['get', 'post'].map((site_key) => ({
      click_id: `c-${site_key}`,
      offer_id: 1,
      site_key,
      user_id: 'ü 1',
      clicked_at: at('09:00'),
    })),
  );
  await pipeline.landLog(
    'conversions',
    'ndjson',
    ['get', 'post'].map((key) => ({
      conversion_id: `v-${key}`,
      click_id: `c-${key}`,
      kind: 'credit',
      occurred_at: at('10:00'),
    })),
  );
  return pipeline;
}

test('a refresh tells publishers once, signed, and the next snapshot shows what became of it', slow, async () => {
  const { address, received } = await publisher();
  const pipeline = await begin(address);
  const words = (time: string) => ['run', 'refresh', '--as-of', at(time), '--json'];
  const refresh = (time: string) => endOf(pipeline.data.root, ...words(time));

  const first = await offerline(pipeline.data.root, ...words('12:00'));
  expect(first.code, first.stderr).toBe(0);
  expect(JSON.parse(first.stdout)).toMatchObject({
    ingested: { postbacks: 2 },
    delivery: { delivered: 2, remaining: 0 },
  });
  expect(first.stderr + first.stdout).not.toContain(secret);
  const [get, post] = received.toSorted((one, other) => one.method.localeCompare(other.method));
  expect(Object.fromEntries(get?.url.searchParams ?? [])).toMatchObject({
    who: 'ü 1',
    sum: '120',
    event: 'credit',
    click_id: 'c-get',
    site_key: 'get',
    signature: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
  const verified = new Webhook(Buffer.from(secret).toString('base64')).verify(post?.body ?? '', post?.headers ?? {});
  expect(verified).toMatchObject({ event: 'credit', user_id: 'ü 1', reward: 120, click_id: 'c-post' });

  const again = await refresh('12:00');
  expect(JSON.parse(again.stdout)).toMatchObject({ snapshotId: null, ingested: { postbacks: 0 } });
  expect(received).toHaveLength(2);
  expect(await pipeline.ask('SELECT DISTINCT state, attempts FROM postbacks')).toEqual([
    { state: 'pending', attempts: 0 },
  ]);

  await refresh('12:05');
  expect(
    await pipeline.ask('SELECT webhook_id, state, attempts, last_status FROM postbacks ORDER BY webhook_id'),
  ).toEqual(
    received
      .map(({ headers }) => ({ webhook_id: headers['webhook-id'], state: 'delivered', attempts: 1, last_status: 200 }))
      .toSorted((one, other) => String(one.webhook_id).localeCompare(String(other.webhook_id))),
  );
  expect(await pipeline.ask('SELECT attempt, status, error, host FROM postback_attempts')).toEqual(
    received.map(() => ({ attempt: 1, status: 200, error: null, host: new URL(address).host })),
  );
  expect(received).toHaveLength(2);

  // The store of deliveries is lost: what is known of them comes back from the warehouse, and nothing is sent again.
  await rm(dirname(pipeline.data.deliveriesFile), { recursive: true });
  const restored = await refresh('12:10');
  expect(JSON.parse(restored.stdout)).toMatchObject({ delivery: { due: 0, delivered: 0, remaining: 0 } });
  expect(restored.stderr).toContain('the delivery store is new');
  expect(received).toHaveLength(2);
  expect(
    JSON.parse(await command(pipeline.data.root, 'postbacks', 'list', '--state', 'delivered', '--json')),
  ).toMatchObject({ count: 2 });

  // The same where it is damaged: zeros where its first pages were.
  const { size } = await stat(pipeline.data.deliveriesFile);
  await writeFile(pipeline.data.deliveriesFile, Buffer.alloc(size));
  await rm(`${pipeline.data.deliveriesFile}-wal`, { force: true });
  const healed = await refresh('12:15');
  expect(healed).toMatchObject({ code: 0, stderr: expect.stringContaining('moved to put-aside/') as string });
  expect(JSON.parse(healed.stdout)).toMatchObject({ delivery: { due: 0, remaining: 0 } });
  expect(received).toHaveLength(2);

  // State and store are lost together: what the published snapshot knows as delivered is not sent again.
  const inPublished = () => pipeline.ask('SELECT * FROM postbacks ORDER BY webhook_id');
  const before = await inPublished();
  await rm(dirname(pipeline.data.deliveriesFile), { recursive: true });
  await rm(pipeline.data.warehouse, { recursive: true });
  const adopted = await refresh('12:20');
  expect(JSON.parse(adopted.stdout)).toMatchObject({ delivery: { due: 0, delivered: 0, remaining: 0 } });
  expect(adopted.stderr).toContain('what was delivered since that was built is sent once more');
  expect(received).toHaveLength(2);
  expect(await inPublished()).toEqual(before);

  // With the store whole there is nothing to restore.
  await rm(pipeline.data.warehouse, { recursive: true });
  const whole = await refresh('12:25');
  expect(JSON.parse(whole.stdout)).toMatchObject({ delivery: { due: 0, remaining: 0 } });
  expect(whole.stderr).not.toContain('the delivery store is new');
  expect(await inPublished()).toEqual(before);
});

test('postbacks go out though an audit stops the publish; a failed one is tried again', slow, async () => {
  const { address, received, answer } = await publisher();
  const pipeline = await begin(address);
  const run = (...words: string[]) => endOf(pipeline.data.root, ...words);
  answer(503);
  await pipeline.ingest(at('12:00'));
  await changeState(pipeline.data, 'UPDATE click_hourly SET clicks = clicks + 1');

  const { code } = await offerline(pipeline.data.root, 'run', 'refresh', '--as-of', at('12:00'));
  expect(code).toBe(4);
  expect(received.map(({ headers }) => headers['webhook-id'])).toHaveLength(2);
  const listed = JSON.parse((await run('postbacks', 'list', '--json')).stdout) as { postbacks: object[] };
  expect(listed.postbacks).toEqual([expect.anything(), expect.anything()]);
  for (const postback of listed.postbacks)
    expect(postback).toMatchObject({ state: 'pending', attempts: 1, last_status: 503, last_error: 'http_status' });

  answer(200);
  const tested = await run('postbacks', 'test', 'post', '--json');
  expect(JSON.parse(tested.stdout)).toMatchObject({ delivered: true, status: 200 });
  expect(JSON.parse(received.at(-1)?.body ?? '')).toMatchObject({
    reward: 0,
    click_id: expect.stringMatching(/^test-/),
  });
});
