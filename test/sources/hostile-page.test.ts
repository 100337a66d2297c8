import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { expect, it, onTestFinished } from 'vitest';
import type { Stream } from '../../src/sources/connectors/declaration.ts';
import { fetchAllPages } from '../../src/sources/fetch-all-pages.ts';
import { pageExcess } from '../../src/sources/http/page-bounds.ts';
import { nodeArguments } from '../support/command-line.ts';
import { temporaryData } from '../support/published-snapshot.ts';
import { slow } from '../support/slow.ts';

const mebibyte = 2 ** 20;
const program = fileURLToPath(new URL('pull-and-report-memory.ts', import.meta.url));

/** Each is a few kilobytes when packed, and within what a page may have unpacked. */
const pages: [name: string, text: () => string, error: string][] = [
  ['objects', () => `{"data":[${'{},'.repeat(20 * mebibyte)}{}]}`, 'more than 1000000 values'],
  ['records', () => `{"data":[${'{},'.repeat(150_000)}{}]}`, '150001 records; at most 100000'],
  ['numbers', () => `{"data":[${'1.10,'.repeat(990_000)}1]}`, '990001 records; at most 100000'],
  ['deep', () => `{"data":${'['.repeat(30 * mebibyte)}`, 'more than 64 lists'],
  ['text', () => `{"data":"${'ж'.repeat(30 * mebibyte)}"}`, 'is no list'],
  ['csv', () => `id,title\n${',,,\n'.repeat(15 * mebibyte)}`, 'more than 1000000 values'],
  ['csv with a long name', () => `${'x'.repeat(60_000)}\n${'a\n'.repeat(900_000)}`, 'more than 134217728 bytes'],
  ['xml', () => `<data>${'<i/>'.repeat(10 * mebibyte)}</data>`, 'more than 1000000 values'],
];

it.each(pages)(
  'too many or too deep %s on a page fail its source alone, within 400 MB',
  slow,
  async (name, text, error) => {
    const packed = gzipSync(text());
    const server = createServer(({ url = '' }, response) => {
      const body = url === '/good' ? gzipSync('{"data":[{"id":"1","name":"One","usd":"1"}]}') : packed;
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(body);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const { data, remove } = await temporaryData();
    onTestFinished(remove);
    const base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const offers = { records: 'data', fields: { external_id: 'id', title: 'name', payout: 'usd' } };
    const sources = [
      {
        source: 'bad',
        connector: 'http',
        base_url,
        offers: { ...offers, path: '/bad', format: /^(?:csv|xml)/.exec(name)?.[0] ?? 'json' },
      },
      { source: 'good', connector: 'http', base_url, offers: { ...offers, path: '/good' } },
    ];
    await writeFile(data.sourcesFile, JSON.stringify({ sources }), { mode: 0o600 });
    const child = spawn(process.execPath, [...nodeArguments, program, data.root], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const { pulled, peak } = (await json(child.stdout)) as { pulled: object[]; peak: number };
    expect(pulled).toMatchObject([
      { source: 'bad', status: 'failed', error: expect.stringContaining(error) as string },
      { source: 'good', status: 'done' },
    ]);
    expect(await readdir(join(data.landing, 'offers', 'good'))).toHaveLength(1);
    expect(peak).toBeLessThan(400e6);
  },
);

it('values are counted outside of quotes, which may be escaped', () => {
  const many = ','.repeat(1_000_001);
  expect(pageExcess(`["\\"${many}"]`, 'json')).toBeUndefined();
  expect(pageExcess(`["\\\\"${many}]`, 'json')).toContain('values');
  expect(pageExcess(`id\n"\\"${many}`, 'csv')).toContain('values');
});

it('a list fails at its record beyond a million, however short its pages are', async () => {
  let fetched = 0;
  let taken = 0;
  const stream = { records: '', format: { type: 'json' }, paging: { kind: 'page', size: 100_000, first: 1 } };
  const reading = fetchAllPages(stream as unknown as Stream, {
    cureOfLength: 'Ask for less',
    fetch: async () => {
      fetched++;
      return { body: Array.from({ length: fetched > 11 ? 0 : 100_000 }, (_, at) => `${fetched} ${at}`), headers: {} };
    },
    read: (record) => ({ id: record as string, isNamed: true }),
    take: (items) => void (taken += items.length),
  });
  await expect(reading).rejects.toThrow('more than 1000000 records: the pull ends without them. Ask for less');
  expect([fetched, taken]).toEqual([11, 1_000_000]);
});
