import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { storageSchema } from '../../../src/kit/config/storage-settings.ts';
import { realEffects } from '../../../src/kit/files/effects.ts';
import { contentKey, contentOf, fetchFile, readContent } from '../../../src/fleet/storage/contents.ts';
import { LostSwapError, ObjectStore, StorageError } from '../../../src/fleet/storage/object-store.ts';
import { proveConditionalWrites, readPointer, swapPointer, type Pointer } from '../../../src/fleet/storage/pointer.ts';
import { FaultyProxy, type PassedRequest, type ProxyFault } from '../../s3/store/faulty-proxy.ts';
import { Moto } from '../../s3/store/moto.ts';
import { storageAt } from './machines.ts';

const moto = await Moto.start();
await moto.createBucket();
afterAll(() => moto[Symbol.asyncDispose]());
const folder = await mkdtemp(join(tmpdir(), 'offerline-store-'));
afterAll(() => rm(folder, { recursive: true }));

const patience = { tries: 3, connect: 500, silence: 500 };
let networks = 0;

/** A store of its own behind a proxy that does this to requests, the first ones or all. */
async function faultyStore(fault: ProxyFault, isHit: (request: PassedRequest, nth: number) => boolean = () => true) {
  const proxy = await FaultyProxy.before(moto.url);
  onTestFinished(() => proxy[Symbol.asyncDispose]());
  const network = ++networks;
  const open = async (endpoint: string) => {
    const store = await ObjectStore.open(storageSchema.parse(storageAt(network, endpoint)), patience);
    onTestFinished(() => store[Symbol.dispose]());
    return store;
  };
  let nth = 0;
  proxy.fault = (request) => (isHit(request, ++nth) ? fault : undefined);
  return { store: await open(proxy.url), direct: await open(moto.url), proxy };
}

const bytes = randomBytes(300_000);
const content = contentOf(bytes);
const large = join(folder, 'large');
const largeBytes = randomBytes(9 * 1024 * 1024);
await writeFile(large, largeBytes);
const largeContent = contentOf(largeBytes);
const once = (_: PassedRequest, nth: number) => nth <= 1;

it.for<[string, ProxyFault]>([
  ['503', { status: 503, code: 'SlowDown' }],
  ['500', { status: 500, code: 'InternalError' }],
  ['cut', { cutAfter: 0 }],
  ['silent', { silent: true }],
  ['its answer lost', { answerLost: true }],
])('a write that is %s once is done again: small, large and on a condition', async ([, fault]) => {
  for (const body of [bytes, { path: large, bytes: largeBytes.length }]) {
    const { store, direct } = await faultyStore(fault, once);
    const written = Buffer.isBuffer(body) ? content : largeContent;
    await store.write(contentKey(written), body);
    expect((await readContent(direct, written)).length).toBe(written.bytes);
  }
  const { store, direct } = await faultyStore(fault, once);
  const etag = await store.writeText('text', 'first', 'none');
  expect(await direct.readText('text')).toEqual({ text: 'first', etag });
  await expect(direct.writeText('text', 'second', 'none')).rejects.toThrow(LostSwapError);
});

it.for<[string, ProxyFault, string]>([
  ['refused', { status: 503, code: 'SlowDown' }, 'HTTP 503 SlowDown'],
  ['cut', { cutAfter: 0 }, 'no whole answer (ECONNRESET)'],
  ['silent', { silent: true }, 'no whole answer (TimeoutError)'],
])('storage whose every answer is %s is told in a line, and no write is taken for done', async ([, fault, told]) => {
  const { store, direct } = await faultyStore(fault);
  const works = [
    () => store.write(contentKey(content), bytes),
    () => store.write(contentKey(largeContent), { path: large, bytes: largeBytes.length }),
    () => store.writeText('text', 'first', 'none'),
    () => store.readText('text'),
    () => readContent(store, content),
    () => fetchFile(store, content, join(folder, 'fetched'), realEffects.files),
    () => store.list('content/').next(),
    () => store.remove('text'),
    () => proveConditionalWrites(store),
  ];
  for (const work of works) {
    const error = await work().then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(StorageError);
    expect((error as Error).message).toContain(told);
    expect((error as Error).message).not.toContain('\n');
  }
  expect(await direct.readText('text')).toBeUndefined();
});

it.for<[string, ProxyFault]>([
  ['cut', { cutAfter: 40 }],
  ['silent', { silentAfter: 40 }],
])('a body that is %s in its middle is an error, never a shorter text', async ([, fault]) => {
  const { store, direct } = await faultyStore(fault, ({ method }) => method === 'GET');
  await direct.write(contentKey(content), bytes);
  await direct.writeText('text', 'x'.repeat(200), 'none');
  await expect(store.readText('text')).rejects.toThrow(StorageError);
  await expect(readContent(store, content)).rejects.toThrow('broke off');
  await expect(fetchFile(store, content, join(folder, 'fetched'), realEffects.files)).rejects.toThrow('broke off');
});

it('bytes that are changed under way are found when they are read, and refused when they are written', async () => {
  const reading = await faultyStore({ changed: true }, ({ method }) => method === 'GET');
  await reading.direct.write(contentKey(content), bytes);
  const damaged = 'does not have the bytes of its name';
  await expect(readContent(reading.store, content)).rejects.toThrow(damaged);
  await expect(fetchFile(reading.store, content, join(folder, 'f'), realEffects.files)).rejects.toThrow(damaged);

  const writing = await faultyStore({ changed: true }, ({ method }) => method === 'PUT');
  await expect(writing.store.write(contentKey(content), bytes)).rejects.toThrow('BadDigest');
  const file = { path: large, bytes: largeBytes.length };
  await expect(writing.store.write(contentKey(largeContent), file)).rejects.toThrow('BadDigest');
  await expect(writing.store.writeText('text', 'first', 'none')).rejects.toThrow('BadDigest');
  await expect(readContent(writing.direct, content)).rejects.toThrow('HTTP 404');
  expect(await writing.direct.readText('text')).toBeUndefined();
});

it.for([['if-match'], ['if-none-match'], ['if-match', 'if-none-match']])(
  'storage that does not mind %s is refused',
  async (without) => {
    const { store, direct } = await faultyStore({ without });
    await expect(proveConditionalWrites(store)).rejects.toThrow('Use storage with conditional writes');
    await proveConditionalWrites(direct);
    for await (const { key } of direct.list('')) expect.unreachable(`${key} is left`);
  },
);

it('wrong keys are told in one line without any of them', async () => {
  const { store } = await faultyStore({
    status: 403,
    code: 'SignatureDoesNotMatch',
    message: 'AKIAOFFERLINETEST000 signed\nwith very/secret+key/of/the/tests',
  });
  const error = await proveConditionalWrites(store).catch((reason: unknown) => reason as Error);
  expect((error as Error).message).toMatch(/^s3:\S+ cannot write \S+: HTTP 403 SignatureDoesNotMatch: [^\n]+$/);
  expect((error as Error).message).not.toMatch(/AKIA|secret\+key/);
});

it('of two writers that take the epoch from the same pointer one loses, though they mean the same', async () => {
  const { direct } = await faultyStore({ silent: true });
  const pointer = (swap: string): Pointer => ({ version: 1, swap, epoch: 1, run_id: 0, snapshots: [], state: null });
  await swapPointer(direct, undefined, pointer('one'));
  const before = await readPointer(direct);
  await swapPointer(direct, before, { ...pointer('two'), epoch: 2 });
  await expect(swapPointer(direct, before, { ...pointer('three'), epoch: 2 })).rejects.toThrow(LostSwapError);
});

it.for<[string, string]>([
  ['a name that leads out', '../../x'],
  ['a hidden name', '.x'],
])('a pointer whose snapshot has %s is refused', async ([, snapshot_id]) => {
  const { direct } = await faultyStore({ silent: true });
  const snapshots = [{ snapshot_id, as_of: '2026-01-01T00:00:00Z', manifest: content }];
  await swapPointer(direct, undefined, { version: 1, swap: 'x', epoch: 1, run_id: 1, snapshots, state: null });
  await expect(readPointer(direct)).rejects.toThrow('cannot be used');
});
