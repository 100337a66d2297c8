import { expect, it } from 'vitest';
import { textTable } from '../../src/cli/answer.ts';

it('a table of 200,000 rows is as wide as its widest cells', () => {
  const rows = Array.from({ length: 200_000 }, (_, index) => ({ row: index + 1, name: `n${index % 7}`, none: null }));
  const lines = textTable(rows).split('\n');
  expect(lines).toHaveLength(200_001);
  expect([lines[0], lines[1], lines.at(-1)]).toEqual(['   row  name  none', '     1  n0    -', '200000  n2    -']);
});
