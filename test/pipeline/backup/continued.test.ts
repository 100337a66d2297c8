import { appendFile, cp, mkdir, mkdtemp, readdir, readFile, readlink, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { command, endOf } from '../../support/commands.ts';
import { PipelineUnderTest } from '../../support/pipeline-under-test.ts';
import { slow } from '../../support/slow.ts';

const at = (time: string) => `2025-03-10T${time}:00Z`;

afterEach(() => {
  vi.unstubAllEnvs();
});

/** A publisher that notes the id of each postback that arrives. */
async function publisher(): Promise<{ address: string; ids: string[] }> {
  const ids: string[] = [];
  const server = createServer((request, response) => {
    ids.push(String(request.headers['webhook-id']));
    request.resume().on('end', () => void response.end('ok'));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  onTestFinished(() => void server.close());
  return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, ids };
}

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'offerline-backup-'));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

async function network(address: string): Promise<PipelineUnderTest> {
  vi.stubEnv('OFFERLINE_ALLOW_PRIVATE_POSTBACKS', '1');
  const pipeline = await PipelineUnderTest.create(new Date(at('12:00')), {
    sites: [{ site_key: 'site', site_secret: 'a secret of the backup’s test', postback: { url: `${address}/cb` } }],
  });
  onTestFinished(() => pipeline[Symbol.asyncDispose]());
  await pipeline.landOffers('net', [
    { id: 1, external_id: 'one', title: 'One', payout: '1.5', destination_url: 'https://one.example/?c={click_id}' },
  ]);
  return pipeline;
}

/** Clicks and their conversions, which no file had before. */
async function landTraffic(pipeline: PipelineUnderTest, name: string, count = 3): Promise<void> {
  const numbers = Array.from({ length: count }, (_, number) => `${name}-${number}`);
  const clicks = numbers.map((id) => ({
    click_id: `k-${id}`,
    offer_id: 1,
    site_key: 'site',
    user_id: id,
    clicked_at: at('09:00'),
  }));
  await pipeline.landLog('clicks', 'ndjson', clicks);
  await pipeline.landLog(
    'conversions',
    'ndjson',
    numbers.map((id) => ({ conversion_id: `v-${id}`, click_id: `k-${id}`, kind: 'credit', occurred_at: at('10:00') })),
  );
}

/** The pipeline of a restored directory, by the same clock. */
async function restored(backup: string): Promise<PipelineUnderTest> {
  const pipeline = await PipelineUnderTest.bare(new Date(at('12:00')));
  onTestFinished(() => pipeline[Symbol.asyncDispose]());
  await command('nowhere', 'restore', backup, '--into', pipeline.data.root);
  return pipeline;
}

const refreshed = async (pipeline: PipelineUnderTest, time: string) =>
  JSON.parse(
    await command(pipeline.data.root, 'run', 'refresh', '--as-of', at(time), '--allow-older', '--json'),
  ) as object;

test('a restored network goes on: figures equal, every postback once, under one id', slow, async () => {
  const { address, ids } = await publisher();
  const pipeline = await network(address);
  await landTraffic(pipeline, 'before');
  await refreshed(pipeline, '12:00');
  expect(ids).toHaveLength(3);
  // Not read yet, and a log that a tracker still writes to.
  await landTraffic(pipeline, 'unread');
  const day = join(pipeline.data.landing, 'clicks/tracker/2025-03-10');
  await mkdir(day, { recursive: true });
  const row = { click_id: 'k-part', offer_id: 1, site_key: 'site', user_id: 'p', clicked_at: at('11:00') };
  const log = join(day, 'a-1741600000000-000001.ndjson');
  await appendFile(`${log}.part`, `${JSON.stringify(row)}\n{"click_id":"k-half`);

  const place = await folder();
  const written = JSON.parse(await command(pipeline.data.root, 'backup', place, '--json')) as Record<string, unknown>;
  expect(written).toMatchObject({ run_id: 1, as_of: at('12:00'), landing: 'needed' });
  expect(await readdir(place)).toEqual([expect.stringMatching(/^offerline-\d{8}T\d{6}Z\.tar$/)]);
  expect((await stat(written['backup'] as string)).mode & 0o777).toBe(0o600);
  expect(await readdir(pipeline.data.warehouse)).not.toContain('backup');

  // Landed later, and so in the landing folder alone; the log, too, has got another row and its final name.
  await rm(`${log}.part`);
  await appendFile(log, [row, { ...row, click_id: 'k-half' }].map((each) => `${JSON.stringify(each)}\n`).join(''));
  await landTraffic(pipeline, 'later');
  const undisturbed = await pipeline.keep();
  const other = await restored(written['backup'] as string);
  expect(await readlink(other.data.current)).toBe(await readlink(pipeline.data.current));
  const found = await endOf(other.data.root, 'doctor', '--deep', '--json');
  expect(found.code, found.stderr + found.stdout).toBe(0);
  expect((await stat(other.data.warehouse)).mode & 0o777).toBe(0o700);
  expect(await readdir(other.data.root)).not.toContain('.restored');

  await cp(pipeline.data.landing, other.data.landing, { recursive: true, preserveTimestamps: true, force: false });
  await refreshed(other, '12:30');
  const afterRestore = [...ids];
  expect(afterRestore).toHaveLength(9);
  expect(new Set(afterRestore).size).toBe(9);

  await undisturbed();
  await refreshed(pipeline, '12:30');
  expect(await other.figures(at('12:30'))).toEqual(await pipeline.figures(at('12:30')));
  expect(new Set(ids).size).toBe(9);
});

test('what was delivered after the backup is sent once more, under the same ids', slow, async () => {
  const { address, ids } = await publisher();
  const pipeline = await network(address);
  await landTraffic(pipeline, 'before');
  await refreshed(pipeline, '12:00');
  const place = join(await folder(), 'network.tar');
  await command(pipeline.data.root, 'backup', place);
  await landTraffic(pipeline, 'later', 2);
  await refreshed(pipeline, '12:10');
  const sent = [...ids];
  expect(new Set(sent).size).toBe(5);

  const other = await restored(place);
  await cp(pipeline.data.landing, other.data.landing, { recursive: true, preserveTimestamps: true, force: false });
  await refreshed(other, '12:20');
  expect(ids.slice(sent.length).toSorted()).toEqual(sent.slice(3).toSorted());
});

test('deliveries that lived on elsewhere lose no postback to the numbers that they know', slow, async () => {
  const { address, ids } = await publisher();
  const pipeline = await network(address);
  await landTraffic(pipeline, 'before');
  await refreshed(pipeline, '12:00');
  const place = join(await folder(), 'network.tar');
  await command(pipeline.data.root, 'backup', place);
  await landTraffic(pipeline, 'lost', 2);
  await refreshed(pipeline, '12:10');

  // The store of the first life, beside the older warehouse: as PostgreSQL is on another machine.
  const other = await restored(place);
  await rm(other.data.postbacks, { recursive: true });
  await cp(pipeline.data.postbacks, other.data.postbacks, { recursive: true });
  await landTraffic(other, 'other', 2);
  await refreshed(other, '12:20');
  expect(ids).toHaveLength(7);
  expect(new Set(ids).size).toBe(7);
});

test('with all of landing a restored network can be rebuilt from it', slow, async () => {
  const { address } = await publisher();
  const pipeline = await network(address);
  await landTraffic(pipeline, 'before');
  await refreshed(pipeline, '12:00');
  const place = join(await folder(), 'network.tar');
  await command(pipeline.data.root, 'backup', place, '--landing');
  const without = join(await folder(), 'network.tar');
  await command(pipeline.data.root, 'backup', without);

  const whole = await restored(place);
  expect(await readdir(join(whole.data.landing, 'clicks'))).toEqual(
    await readdir(join(pipeline.data.landing, 'clicks')),
  );
  const needed = await restored(without);
  expect(await readdir(join(needed.data.landing))).toEqual(['offers']);
  expect(new DataDirectory(needed.data.root).landing).toBe(needed.data.landing);
});

test('the rehearsal of the operators’ page works as it is written, and sends nothing', slow, async () => {
  const { address, ids } = await publisher();
  const pipeline = await network(address);
  await landTraffic(pipeline, 'before');
  await refreshed(pipeline, '12:00');
  const sent = [...ids];
  await landTraffic(pipeline, 'unread');
  const place = await folder();
  const page = await readFile(join(import.meta.dirname, '../../../pipelines/README.md'), 'utf8');
  const [, block = ''] = /\*\*A rehearsal\*\*[^`]*(?:`[^`\n]+`[^`]*)*```sh\n([^]*?)```/.exec(page) ?? [];
  await mkdir(join(place, 'backups'));
  let root = pipeline.data.root;
  const ended: [line: string, code: number | null][] = [];
  let last = '';
  for (const line of block
    .replaceAll('/srv', place)
    .split('\n')
    .filter((each) => each !== '')) {
    const [, data] = /^export OFFERLINE_DATA=(.+)$/.exec(line) ?? [];
    root = data ?? root;
    if (data !== undefined) continue;
    const [, ...words] = [...line.matchAll(/"([^"]+)"|(\S+)/g)].map(([, text, word]) => text ?? word ?? '');
    const { code, stdout } = await endOf(root, ...words);
    ended.push([line, code]);
    last = stdout;
  }
  expect(ended).toHaveLength(7);
  expect(ended.filter(([line, code]) => code !== 0 || !line.startsWith('offerline '))).toEqual([]);
  expect(last).toMatch(/\b6\b/);
  expect(ids).toEqual(sent);
});
