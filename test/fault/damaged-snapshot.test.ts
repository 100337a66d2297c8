import { open, readdir, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { expect, it } from 'vitest';
import { Random } from '../../src/demo/generate/network/random.ts';
import { verifySnapshot } from '../../src/pipeline/snapshot/verify.ts';
import { asOf, smallData } from '../e2e/small-data.ts';
import { slow } from '../support/slow.ts';

/** Positions tried in each file beside its first and last byte. */
const sampled = 6;

/** Inverts one bit, and once more puts it right. */
async function flip(path: string, at: number, bit: number): Promise<void> {
  const file = await open(path, 'r+');
  try {
    const { buffer } = await file.read(Buffer.alloc(1), 0, 1, at);
    await file.write(Buffer.from([(buffer[0] ?? 0) ^ (1 << bit)]), 0, 1, at);
  } finally {
    await file.close();
  }
}

async function filesOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

it('a bit flipped anywhere in any file of a snapshot is noticed', slow, async () => {
  await using pipeline = await smallData();
  await pipeline.refresh(asOf);
  const folder = join(pipeline.data.published, (await pipeline.snapshots()).current);
  const files = await filesOf(folder);
  expect(files.length).toBeGreaterThan(7);
  const random = new Random(42);
  const unnoticed: string[] = [];
  for (const path of files) {
    const { size } = await stat(path);
    for (const at of [0, size - 1, ...Array.from({ length: sampled }, () => random.below(size))]) {
      const bit = random.below(8);
      await flip(path, at, bit);
      await verifySnapshot(folder).then(
        () => unnoticed.push(`${relative(folder, path)} at ${at}`),
        () => undefined,
      );
      await flip(path, at, bit);
    }
  }
  expect(unnoticed).toEqual([]);
  await verifySnapshot(folder);
});

it('a refresh without news publishes a damaged snapshot again, or says what to do', slow, async () => {
  await using pipeline = await smallData();
  await pipeline.refresh(asOf);
  const first = (await pipeline.snapshots()).current;
  expect((await pipeline.refresh(asOf)).snapshotId).toBeNull();
  await flip(join(pipeline.data.current, 'feed-offers.ndjson'), 5, 0);
  const { snapshotId } = await pipeline.refresh(asOf);
  expect(snapshotId).not.toBeNull();
  expect(snapshotId).not.toBe(first);
  await verifySnapshot(join(pipeline.data.published, snapshotId ?? ''));

  const [shared = ''] = (await filesOf(pipeline.data.events)).filter((path) => path.includes('/clicks/'));
  await flip(shared, 200, 3);
  await expect(pipeline.refresh(asOf)).rejects.toThrow(
    /is damaged, and every snapshot shares it: `offerline doctor --deep --repair`/,
  );
  expect((await pipeline.snapshots()).current).toBe(snapshotId);
});
