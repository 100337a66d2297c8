import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { defaultSettings, parseSettings } from '../../src/kit/config/settings.ts';
import { exitCode } from '../../src/kit/errors/errors.ts';
import { offerline } from '../support/command-line.ts';
import { endOf } from '../support/commands.ts';
import { PipelineUnderTest } from '../support/pipeline-under-test.ts';
import { PostgresServer } from './postgres-server.ts';

const at = (time: string) => `2025-03-10T${time}:00Z`;
let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(() => server?.stop());
afterEach(() => {
  vi.unstubAllEnvs();
});

/** A network with one conversion to tell, and the ids that its publisher was told. */
async function network(store: unknown): Promise<{ pipeline: PipelineUnderTest; told: string[] }> {
  vi.stubEnv('OFFERLINE_ALLOW_PRIVATE_POSTBACKS', '1');
  const told: string[] = [];
  const publisher = createServer((request, response) => {
    told.push(String(request.headers['webhook-id']));
    response.end();
  });
  await new Promise<void>((listening) => publisher.listen(0, '127.0.0.1', listening));
  onTestFinished(() => void publisher.close());
  const url = `http://127.0.0.1:${(publisher.address() as AddressInfo).port}/told`;
  const pipeline = await PipelineUnderTest.create(new Date(at('12:00')), {
    settings: { postbacks: { store } },
    sites: [{ site_key: 's', site_secret: 'a secret of the site, long enough', reward_rate: 100, postback: { url } }],
  });
  onTestFinished(() => pipeline[Symbol.asyncDispose]());
  await pipeline.landOffers('net', [{ id: 1, external_id: 'one', title: 'One', payout: '1.5' }]);
  await pipeline.landLog('clicks', 'ndjson', [
    { click_id: 'c1', offer_id: 1, site_key: 's', user_id: 'u', clicked_at: at('09:00') },
  ]);
  await convert(pipeline, 'v1');
  return { pipeline, told };
}

const convert = (pipeline: PipelineUnderTest, conversion_id: string) =>
  pipeline.landLog('conversions', 'ndjson', [
    { conversion_id, click_id: 'c1', kind: 'credit', occurred_at: at('10:00') },
  ]);

it('with PostgreSQL away a refresh publishes, says so in one line, and loses nothing', async () => {
  const { pipeline, told } = await network(await server.database());
  await pipeline.refresh(at('12:00'));
  expect(told).toHaveLength(1);
  await convert(pipeline, 'v2');
  await server.crash();
  const { root } = pipeline.data;
  const said: string[] = [];
  try {
    await expect(pipeline.refresh(at('12:01'))).rejects.toMatchObject({
      exitCode: exitCode.failed,
      message: expect.stringMatching(
        /^PostgreSQL at 127\.0\.0\.1:\d+\/\w+ \(postbacks\.store\) cannot be reached: connect ECONNREFUSED [^\n]*$/,
      ) as string,
    });
    expect(await pipeline.ask('SELECT conversion_id FROM conversions ORDER BY ALL')).toEqual([
      { conversion_id: 'v1' },
      { conversion_id: 'v2' },
    ]);
    for (const words of [['postbacks', 'deliver'], ['postbacks', 'list'], ['status'], ['doctor']]) {
      const { code, stdout, stderr } = await offerline(root, ...words);
      said.push(stdout, stderr);
      expect([words, code]).toEqual([words, exitCode.failed]);
      expect(stdout + stderr).toContain('cannot be reached');
    }
  } finally {
    await server.run();
  }
  expect(said.join('')).not.toContain(server.password);
  expect(said.join('')).not.toContain(encodeURIComponent(server.password));
  await pipeline.refresh(at('12:02'));
  expect(told).toHaveLength(2);
  expect(new Set(told).size).toBe(2);
  await pipeline.refresh(at('12:03'));
  expect(told).toHaveLength(2);
  expect(await pipeline.ask("SELECT webhook_id FROM postbacks WHERE state = 'delivered'")).toHaveLength(2);
});

it.for([
  ['default_transaction_read_only = on', 'in a read-only transaction'],
  ["lock_timeout = '1ms'", 'due to lock timeout'],
] as const)('with %s a refresh publishes, as where PostgreSQL is away', async ([setting, reason]) => {
  const address = await server.database();
  const database = new URL(address).pathname.slice(1);
  const { pipeline, told } = await network(address);
  await pipeline.refresh(at('12:00'));
  await convert(pipeline, 'v2');
  await server.query('postgres', `ALTER DATABASE ${database} SET ${setting}`);
  const other = new pg.Client({ connectionString: address });
  await other.connect();
  onTestFinished(() => other.end());
  await other.query('BEGIN READ WRITE; SELECT FROM offerline.store FOR UPDATE');
  await expect(pipeline.refresh(at('12:01'))).rejects.toThrow(
    new RegExp(`\\(postbacks\\.store\\) cannot be reached: .*${reason}`),
  );
  await other.query('ROLLBACK');
  expect(await pipeline.ask('SELECT conversion_id FROM conversions ORDER BY ALL')).toHaveLength(2);
  await server.query('postgres', `ALTER DATABASE ${database} RESET ALL`);
  await pipeline.refresh(at('12:02'));
  expect(new Set(told).size).toBe(2);
});

it('takes its address from the environment or a file, and repeats no part of one that is wrong', async () => {
  const address = await server.database();
  vi.stubEnv('DELIVERIES', address);
  const { pipeline, told } = await network({ env: 'DELIVERIES' });
  await pipeline.refresh(at('12:00'));
  expect(told).toHaveLength(1);
  const file = join(pipeline.data.root, 'address');
  await writeFile(file, `${address}\n`);
  await chmod(file, 0o600);
  await pipeline.configure({ postbacks: { store: { file } } });
  expect(await endOf(pipeline.data.root, 'postbacks', 'list', '--json')).toMatchObject({ code: exitCode.done });
  for (const wrong of [
    address.replace('%40', '%'),
    address.replace('postgres:', 'mysql:'),
    address.replace('%40', '%41'),
    address.replace(/:\d+\//, ':99999/'),
    `${address}_missing`,
  ]) {
    await writeFile(file, wrong);
    const { code, stderr } = await endOf(pipeline.data.root, 'postbacks', 'list');
    expect([exitCode.failed, exitCode.usage]).toContain(code);
    expect(stderr).toMatch(/postbacks\.store/);
    for (const secret of [server.password, new URL(address).password, 'rd of tests'])
      expect(stderr).not.toContain(secret);
  }
  expect(() => parseSettings('{"postbacks": {"store": "mysql://u:hush@host/db"}}', 'offerline.json')).toThrow(
    /is not an address that begins with postgres:\/\/(?![^]*hush)/,
  );
  expect(defaultSettings.postbacks).toEqual({});
});
