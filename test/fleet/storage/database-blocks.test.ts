import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, expect, it } from 'vitest';
import { realEffects } from '../../../src/kit/files/effects.ts';
import { contentKey } from '../../../src/fleet/storage/contents.ts';
import type { ObjectStore } from '../../../src/fleet/storage/object-store.ts';
import { blocksOf, fetchBlocks, readBlock } from '../../../src/fleet/storage/writer/database-blocks.ts';

const folder = await mkdtemp(join(tmpdir(), 'offerline-blocks-'));
afterAll(() => rm(folder, { recursive: true }));
const path = (name: string) => join(folder, name);

/** What storage would give, and which keys it was asked for. */
function storeOf(contents: Map<string, Buffer>) {
  const asked: string[] = [];
  const store = {
    url: 's3://bucket',
    read: async (key: string) => {
      asked.push(key);
      return Readable.from([contents.get(key) ?? Buffer.alloc(0)]);
    },
  };
  return { store: store as unknown as ObjectStore, asked };
}

async function stored(
  file: string,
): Promise<{ contents: Map<string, Buffer>; blocks: Awaited<ReturnType<typeof blocksOf>> }> {
  const blocks = await blocksOf(file);
  const contents = new Map<string, Buffer>();
  for (const block of blocks) contents.set(contentKey(block.content), await readBlock(file, block));
  return { contents, blocks };
}

it.for([0, 1, 12_287, 12_288, 12_289, 12_288 + 262_144, 12_288 + 262_144 + 1, 2_000_003])(
  'a file of %d bytes that is cut and put together is the same',
  async (bytes) => {
    const original = randomBytes(bytes);
    await writeFile(path('original'), original);
    const { contents, blocks } = await stored(path('original'));
    expect(blocks.reduce((sum, { content }) => sum + content.bytes, 0)).toBe(bytes);
    const { store } = storeOf(contents);
    const wanted = blocks.map(({ content }) => content);
    await fetchBlocks(store, wanted, path('copy'), path('not there'), realEffects);
    expect(original.equals(await readFile(path('copy')))).toBe(true);
  },
);

it('asks only for the blocks that are others here, whatever is longer or shorter', async () => {
  const original = randomBytes(12_288 + 4 * 262_144);
  await writeFile(path('original'), original);
  const { contents, blocks } = await stored(path('original'));
  const wanted = blocks.map(({ content }) => content);
  const here = Buffer.concat([original, randomBytes(1000)]);
  here[12_288 + 262_144 + 5] = (here[12_288 + 262_144 + 5] as number) ^ 1;
  for (const [present, expected] of [
    [here, [2]],
    [here.subarray(0, 12_288 + 262_144), [2, 3, 4]],
    [original, []],
  ] as const) {
    await writeFile(path('here'), present);
    const { store, asked } = storeOf(contents);
    await fetchBlocks(store, wanted, path('copy'), path('here'), realEffects);
    const wantedKeys = expected.map((index) => contentKey(blocks[index]?.content as { sha256: string }));
    expect(asked.toSorted()).toEqual(wantedKeys.toSorted());
    expect(original.equals(await readFile(path('copy')))).toBe(true);
  }
});

it('a block that does not have the bytes of its name is refused', async () => {
  await writeFile(path('original'), randomBytes(300_000));
  const { blocks } = await stored(path('original'));
  const { store } = storeOf(new Map());
  const wanted = blocks.map(({ content }) => content);
  await expect(fetchBlocks(store, wanted, path('copy'), path('not there'), realEffects)).rejects.toThrow(
    'does not have the bytes of its name',
  );
});
