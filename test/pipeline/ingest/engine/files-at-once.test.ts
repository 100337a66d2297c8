import { expect, it } from 'vitest';
import { filesAtOnce } from '../../../../src/pipeline/ingest/engine/files-at-once.ts';

const files = (...sought: number[]) => sought.map((each) => ({ sought: each }));

it('reads files together, in their order, until so much is looked for', () => {
  expect(filesAtOnce(files(3, 4, 4, 1), 8)).toEqual([files(3, 4), files(4, 1)]);
});

it('reads a file by itself where more is looked for in it alone', () => {
  expect(filesAtOnce(files(1, 9, 1), 8)).toEqual([files(1), files(9), files(1)]);
});

it('reads no more than sixteen files at once, whose buffers take memory', () => {
  const groups = filesAtOnce(files(...Array.from({ length: 40 }, () => 0)), 8);
  expect(groups.map((group) => group.length)).toEqual([16, 16, 8]);
});
