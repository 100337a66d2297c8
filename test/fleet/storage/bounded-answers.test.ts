import { once } from 'node:events';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { storageSchema } from '../../../src/kit/config/storage-settings.ts';
import { realEffects } from '../../../src/kit/files/effects.ts';
import { contentOf, fetchFile, readContent } from '../../../src/fleet/storage/contents.ts';
import { ObjectStore, StorageError } from '../../../src/fleet/storage/object-store.ts';

/** Answers whatever it is asked with the same bytes, for as long as anybody reads. */
const chunk = Buffer.alloc(65_536, '<Contents/>');
const endless = (response: ServerResponse) => {
  const more = () => {
    while (!response.destroyed && response.write(chunk));
  };
  response.on('drain', more);
  more();
};
const server = createServer((_request, response) => endless(response.writeHead(200, { etag: '"x"' })));
server.listen(0, '127.0.0.1');
await once(server, 'listening');
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

async function storeThere(): Promise<ObjectStore> {
  const store = await ObjectStore.open(
    storageSchema.parse({
      url: 's3://bucket/network',
      endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      access_key_id: 'id',
      secret_access_key: 'key',
    }),
  );
  onTestFinished(() => store[Symbol.dispose]());
  return store;
}

it('a text, a list and a write whose answers have no end are refused in plain words', async () => {
  const store = await storeThere();
  await expect(store.readText('current.json')).rejects.toThrow(
    's3://bucket/network cannot read current.json: it has more than 16 MiB, which no text of ours has',
  );
  await expect(store.list('content/').next()).rejects.toThrow(
    's3://bucket/network cannot list content/: the answer has more than 200000 tags and attributes',
  );
  await expect(store.writeText('lease.json', 'x', 'none')).rejects.toThrow('cannot write lease.json: the answer has');
});

it('a content is read as far as it goes, and is damaged where it goes on', async () => {
  const store = await storeThere();
  const content = contentOf(chunk.subarray(0, 1000));
  await expect(readContent(store, content)).rejects.toThrow('does not have the bytes of its name');
  await expect(readContent(store, content)).rejects.toThrow(StorageError);
  const folder = await mkdtemp(join(tmpdir(), 'offerline-endless-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, 'file');
  await expect(fetchFile(store, content, path, realEffects.files)).rejects.toThrow(
    'does not have the bytes of its name',
  );
  expect((await stat(path)).size).toBeLessThan(chunk.length);
});
