import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { hashedKey } from '../../../src/pipeline/clicks/click-bloom-filter.ts';
import { ClickFileIndex } from '../../../src/pipeline/clicks/click-file-index.ts';
import type { ClickFile } from '../../../src/pipeline/clicks/click-files.ts';
import { textKey } from '../../../src/kit/vocabulary/event-key.ts';
import { parquet } from '../../support/parquet.ts';

const clicksPerFile = 3_000;
const going = new AbortController().signal;

const keys = { a: hashedKey('a-1'), b: hashedKey('b-2999'), c: hashedKey('c-17'), none: hashedKey('d-1') };

/**
 * Files of clicks `a-0` … `a-2999` and so on, one by its column of keys, as events have it, the others by the click's
 * id, as marts have it.
 */
async function threeFiles(): Promise<[ClickFile, ClickFile, ClickFile]> {
  const folder = await mkdtemp(join(tmpdir(), 'offerline-index-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = async (name: string, key: string): Promise<ClickFile> => {
    const path = join(folder, `${name}.parquet`);
    await writeFile(
      path,
      await parquet(
        `SELECT click_id, ${textKey('click_id')} AS event_key FROM (SELECT '${name}-' || range AS click_id FROM range(${clicksPerFile}))`,
      ),
    );
    return { path, sha256: `digest of ${name}`, key };
  };
  return [await file('a', 'event_key'), await file('b', textKey('click_id')), await file('c', textKey('click_id'))];
}

const names = (files: readonly ClickFile[]) => files.map(({ sha256 }) => sha256.at(-1)).join('');

test('of files that it has read it names those that may have a click, of others all', async () => {
  const [a, b, c] = await threeFiles();
  const index = new ClickFileIndex();
  expect(names(index.filesThatMayHave([a, b, c], keys.none))).toBe('abc');
  await index.learn([a, b], going);
  expect(names(index.filesThatMayHave([a, b, c], keys.a))).toBe('ac');
  expect(names(index.filesThatMayHave([a, b, c], keys.b))).toBe('bc');
  await index.learn([a, b, c], going);
  expect(names(index.filesThatMayHave([a, b, c], keys.c))).toBe('c');
  expect(names(index.filesThatMayHave([a, b, c], keys.none))).toBe('');
});

test('a file is known by its content, wherever it lies', async () => {
  const [a, b] = await threeFiles();
  const index = new ClickFileIndex();
  await index.learn([a, b], going);
  const moved = [a, b].map((file) => ({ ...file, path: `${file.path}-of-another-snapshot` }));
  await index.learn(moved, going);
  expect(index.filesThatMayHave(moved, keys.b)).toEqual([moved[1]]);
});

test('beyond its room it reads no more files, and forgets those that are not asked for any more', async () => {
  const [a, b, c] = await threeFiles();
  const whole = new ClickFileIndex();
  await whole.learn([a], going);
  const room = 2 * whole.bytes;
  const index = new ClickFileIndex(room);
  await index.learn([a, b, c], going);
  expect(index.bytes).toBe(room);
  expect(names(index.filesThatMayHave([a, b, c], keys.none))).toBe('c');
  await index.learn([c, b], going);
  expect(index.bytes).toBe(room);
  expect(names(index.filesThatMayHave([a, b, c], keys.none))).toBe('a');
});

test('a file that is gone or no Parquet stays one that may have any click, and hinders no other', async () => {
  const [a, b, c] = await threeFiles();
  await rm(a.path);
  await writeFile(b.path, 'no Parquet');
  const index = new ClickFileIndex();
  await index.learn([a, b, c], going);
  expect(names(index.filesThatMayHave([a, b, c], keys.none))).toBe('ab');
});

test('a file is never known by half, wherever learning is stopped', async () => {
  const [a, b, c] = await threeFiles();
  for (let looks = 0; looks < 10; looks++) {
    const index = new ClickFileIndex();
    let left = looks;
    // Aborted from the given look at it on.
    await index.learn([b, a, c], {
      get aborted() {
        return --left < 0;
      },
    } as AbortSignal);
    expect(names(index.filesThatMayHave([b], keys.b))).toBe('b');
    expect(names(index.filesThatMayHave([c], keys.c))).toBe('c');
  }
});

test('learning that is stopped leaves what is known', async () => {
  const [a, b, c] = await threeFiles();
  const index = new ClickFileIndex();
  await index.learn([a], going);
  const stop = new AbortController();
  const learning = index.learn([a, b, c], stop.signal);
  stop.abort();
  await learning;
  expect(names(index.filesThatMayHave([a, b, c], keys.none))).toBe('bc');
  // Nor does it start: whoever is retired has no say in what is forgotten.
  await index.learn([c], stop.signal);
  expect(names(index.filesThatMayHave([a, b, c], keys.none))).toBe('bc');
});
