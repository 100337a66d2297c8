import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { expect, it, onTestFinished } from 'vitest';
import { pullMine } from '../support/declared-network.ts';

const offers = Array.from({ length: 400 }, (_, id) => ({ id: `offer ${id}` }));
const list = JSON.stringify(offers);

/** Pulls from a server that answers with these bytes, the first of them by itself. */
async function pullPacked(coding: string, body: Buffer, status = 200, headers = {}) {
  const server = createServer((_, response) => {
    response.writeHead(status, { 'content-encoding': coding, ...headers });
    response.write(body.subarray(0, 1), () => response.end(body.subarray(1)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => server.close().closeAllConnections());
  const base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return pullMine({ connector: 'http', base_url, offers: { fields: { external_id: 'id' } } });
}

it.each<[coding: string, body: Buffer]>([
  ['GZIP', gzipSync(list)],
  [' X-Gzip ', gzipSync(list)],
  ['Br', brotliCompressSync(list)],
  ['deflate', deflateSync(list)],
  ['Deflate', deflateRawSync(list)],
  ['deflate', deflateRawSync(list, { level: 0 })],
  ['Identity', Buffer.from(list)],
])('an answer packed as %s is read', async (coding, body) => {
  const { pulled } = await pullPacked(coding, body);
  expect(pulled).toMatchObject({ status: 'done', records: offers.length });
});

it.each<[coding: string, body: Buffer, error: string]>([
  ['deflate', deflateSync(list).subarray(0, 80), 'whose deflate is cut off or broken'],
  ['deflate', deflateRawSync(list).subarray(0, 80), 'whose deflate is cut off or broken'],
  ['zstd', Buffer.from(list), 'packed in a way that was not asked for'],
])('an answer packed as %s that cannot be read fails the pull', async (coding, body, error) => {
  const { pulled } = await pullPacked(coding, body);
  expect(pulled).toMatchObject({ status: 'failed', error: expect.stringContaining(error) as string });
});

it.each<[status: number, coding: string, body: Buffer, error: string]>([
  [401, 'gzip', Buffer.alloc(0), 'HTTP 401'],
  [429, 'gzip', Buffer.alloc(0), 'HTTP 429'],
  [503, 'br', Buffer.alloc(0), 'HTTP 503'],
  [404, 'deflate', Buffer.alloc(0), 'HTTP 404'],
  [403, 'gzip', gzipSync(list).subarray(0, 80), 'HTTP 403'],
  [403, 'zstd', Buffer.from('no'), 'HTTP 403'],
  // An empty body says nothing of a list.
  [200, 'gzip', Buffer.alloc(0), 'HTTP 200 with a body that is no JSON'],
])(
  'an answer of status %i packed as %s, empty or broken, is judged by its status',
  async (status, coding, body, error) => {
    const { pulled } = await pullPacked(coding, body, status);
    expect(pulled).toMatchObject({ status: 'failed', error: expect.stringContaining(error) as string });
  },
);

// A byte of the first character is that of a quote in UTF-16, one of the second that of a backslash in Shift JIS.
it.each<[encoding: string, bytes: (text: string) => Buffer]>([
  ['utf-16le', (text) => Buffer.from(text, 'utf16le')],
  ['utf-16be', (text) => Buffer.from(text, 'utf16le').swap16()],
  [
    'shift_jis',
    (text) =>
      Buffer.concat(
        text
          .split('∀')
          .map((part) => Buffer.from(part, 'latin1'))
          .flatMap((part, at) => (at === 0 ? [part] : [Buffer.from([0x95, 0x5c]), part])),
      ),
  ],
])('the depth of an answer in %s is bounded, and what its texts quote counts for nothing', async (encoding, bytes) => {
  const pulled = async (title: string, value: string) => {
    const text = `[{"id":"1","title":"${title}","deep":${value}}]`;
    const result = await pullPacked('', bytes(text), 200, { 'content-type': `application/json; charset=${encoding}` });
    return result.pulled;
  };
  const deep = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
  expect(await pulled('∀', deep(63))).toMatchObject({
    status: 'failed',
    error: expect.stringContaining('more than 64 lists') as string,
  });
  expect(await pulled(`∀${deep(63)}`, deep(62))).toMatchObject({ status: 'done', records: 1 });
});
