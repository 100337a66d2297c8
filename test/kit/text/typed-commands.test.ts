import { expect, it } from 'vitest';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { typedOfferline, withTypedCode, withTypedCommands } from '../../../src/kit/text/typed-commands.ts';

it.each([
  ['a checkout', 'offerline', false, 'npm run -s offerline --'],
  ['`npm start` of a checkout', 'start', false, 'npm run -s offerline --'],
  ['the image', undefined, false, 'offerline'],
  ['an installed package that is on the path', undefined, true, 'offerline'],
  ['an installed package in some folder', 'npx', true, 'npx offerline'],
])('commands are typed as they work in %s', (_where, script, bundled, typed) => {
  expect(typedOfferline({ npm_lifecycle_event: script }, bundled)).toBe(typed);
});

it('texts and pages name commands as they are typed', () => {
  const name = 'npx offerline';
  expect(withTypedCommands('held: `offerline offers accept 7` lets it in', name)).toBe(
    'held: `npx offerline offers accept 7` lets it in',
  );
  expect(withTypedCode('<a>offerline</a> <code>offerline status</code>', name)).toBe(
    '<a>offerline</a> <code>npx offerline status</code>',
  );
});

it('a log line keeps its fields and its message', () => {
  let lines = '';
  createLogger({ write: (text) => (lines += text) }).warn({ file: 'a.csv' }, 'run `offerline status`');
  expect(JSON.parse(lines)).toMatchObject({ file: 'a.csv', msg: 'run `offerline status`' });
});
