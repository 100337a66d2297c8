import { expect, it } from 'vitest';
import { filesAtOnce } from '../../../../src/pipeline/ingest/engine/files-at-once.ts';

const itself = (sought: number) => sought;

it('reads files together, in their order, until so much is looked for', () => {
  expect(filesAtOnce([3, 4, 4, 1], itself, 8)).toEqual([
    [3, 4],
    [4, 1],
  ]);
});

it('reads a file by itself where more is looked for in it alone', () => {
  expect(filesAtOnce([1, 9, 1], itself, 8)).toEqual([[1], [9], [1]]);
});

it('reads no more than sixteen files at once, whose buffers take memory', () => {
  const groups = filesAtOnce(Array.from({ length: 40 }, () => 'a file'));
  expect(groups.map((group) => group.length)).toEqual([16, 16, 8]);
});
