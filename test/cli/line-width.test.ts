import { expect, it } from 'vitest';
import { cutLines } from '../../src/cli/line-width.ts';

it('lines are cut to the width of a terminal, but those to copy', () => {
  const text = 'short\na line that is longer than that\n$ a command that is longer than that';
  expect(cutLines(text, 12, (line) => line.startsWith('$'))).toBe(
    'short\na line that…\n$ a command that is longer than that',
  );
});
