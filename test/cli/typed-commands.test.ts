import { expect, it } from 'vitest';
import { withTypedCommands } from '../../src/cli/answer.ts';

it('texts name commands as they are typed where they are read', () => {
  const text = 'held: `offerline offers accept 7` lets it in';
  expect(withTypedCommands(text, 'offerline')).toBe('held: `npm run -s offerline -- offers accept 7` lets it in');
  expect(withTypedCommands(text, undefined)).toBe(text);
});
