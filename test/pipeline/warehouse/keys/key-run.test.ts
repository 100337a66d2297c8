import fc from 'fast-check';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import {
  DamagedKeyRun,
  entriesPerPage,
  KeyRun,
  writeKeyRun,
  type SortedKeys,
} from '../../../../src/pipeline/warehouse/keys/key-run.ts';

async function runPath(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'offerline-keys-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return join(folder, 'one.keys');
}

/** Sorted by both words; `low` is the key's lower part and the day. */
function sorted(entries: readonly (readonly [high: number, low: number])[]): SortedKeys {
  const inOrder = entries.toSorted(([a, b], [c, d]) => a - c || b - d);
  return {
    high: Uint32Array.from(inOrder.map(([high]) => high)),
    low: Uint32Array.from(inOrder.map(([, low]) => low)),
  };
}

async function* inChunks({ high, low }: SortedKeys, size: number): AsyncGenerator<SortedKeys> {
  for (let start = 0; start < high.length; start += size)
    yield { high: high.subarray(start, start + size), low: low.subarray(start, start + size) };
}

// Few high words, so that many entries share one and it reaches over several pages.
const word = fc.oneof(fc.nat(3), fc.nat(0xffff), fc.nat(0xffff_ffff));
const entry = fc.tuple(word, fc.nat(0xffff_ffff));

it('finds the days of every key that it has, and no day of another, however keys are spread', async () => {
  const path = await runPath();
  await fc.assert(
    fc.asyncProperty(
      fc.array(entry, { maxLength: 3 * entriesPerPage, size: 'max' }),
      fc.array(entry, { maxLength: 50 }),
      async (entries, others) => {
        expect(await writeKeyRun(path, inChunks(sorted(entries), 100))).toBe(entries.length);
        using run = new KeyRun(path);
        for (const asked of [[], others, entries.slice(0, 1), entries.slice(0, 20), [...entries, ...others]]) {
          const days = new Set<number>();
          run.findDays(sorted(asked), days);
          const keys = new Set(asked.map(([high, low]) => `${high} ${low >>> 16}`));
          const expected = entries.filter(([high, low]) => keys.has(`${high} ${low >>> 16}`));
          expect(days).toEqual(new Set(expected.map(([, low]) => low & 0xffff)));
        }
        const [high, low]: [number[], number[]] = [[], []];
        for (const keys of run.all()) {
          high.push(...keys.high);
          low.push(...keys.low);
        }
        expect({ high, low }).toEqual({ high: [...sorted(entries).high], low: [...sorted(entries).low] });
      },
    ),
    { numRuns: 30 },
  );
});

it('says so when a byte of it is not as it was written', async () => {
  const path = await runPath();
  const entries = Array.from({ length: 2 * entriesPerPage }, (_, n): [number, number] => [n * 1000, n << 16]);
  await writeKeyRun(path, inChunks(sorted(entries), entries.length));
  const written = await readFile(path);
  const readAll = () => {
    using run = new KeyRun(path);
    return [...run.all()].length;
  };
  expect(readAll()).toBe(2);
  for (const at of [0, 9, 4096 + 100, 2 * 4096 + 4000, written.length - 1]) {
    const flipped = Buffer.from(written);
    flipped[at] = (flipped[at] as number) ^ 4;
    await writeFile(path, flipped);
    expect(readAll, `byte ${at}`).toThrow(DamagedKeyRun);
  }
  await writeFile(path, written.subarray(0, -1));
  expect(readAll).toThrow(DamagedKeyRun);
  await writeFile(path, '');
  expect(readAll).toThrow(DamagedKeyRun);
});

it('reads single pages where few keys are asked of many', async () => {
  const path = await runPath();
  const entries = Array.from({ length: 40 * entriesPerPage }, (_, n): [number, number] => [
    Math.floor(n / 3) * 600_000,
    ((n * 7919) & 0xffff) * 0x1_0000 + (n % 60_000),
  ]);
  await writeKeyRun(path, inChunks(sorted(entries), 5000));
  using run = new KeyRun(path);
  for (let index = 0; index < entries.length; index += 101) {
    const [high, low] = entries[index] as [number, number];
    const days = new Set<number>();
    run.findDays(
      sorted([
        [high, low],
        [high + 1, low],
      ]),
      days,
    );
    expect([...days]).toEqual([low & 0xffff]);
  }
});
