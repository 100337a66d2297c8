import { expect, it } from 'vitest';
import { consolePages } from '../../../src/console/pages.ts';
import { cureOf } from '../../../src/console/pages/figures/cures.ts';
import { byWeight, waitingList } from '../../../src/console/pages/figures/waits.ts';
import { actions } from '../../../src/console/actions/actions.ts';

it.each([
  ['offerline offers accept 17', '/files/17', 'accept-export'],
  ['offerline postbacks test wall', '/sites/wall', 'test-postback'],
  [String.raw`offerline postbacks test 'a '\''b'\'''`, `/sites/a%20'b'`, 'test-postback'],
  ['offerline postbacks retry --all', '/postbacks?state=dead', 'retry-postbacks'],
  ['offerline postbacks deliver', '/postbacks', undefined],
  ['offerline sites list', '/sites', undefined],
  ['offerline sources pull away', '/sources', 'pull'],
  ['offerline sources list', '/sources', undefined],
  [
    `offerline sql "SELECT path, reason FROM ingest_files WHERE status = 'quarantined' ORDER BY file_id DESC"`,
    '/files?status=quarantined',
    undefined,
  ],
  ['offerline sql "FROM rejects ORDER BY file_id DESC, line LIMIT 20"', '/rejects', undefined],
  ['offerline backfill reports', '/days', 'backfill'],
  ['offerline run refresh', '/runs', 'refresh'],
  ['offerline run maintenance', '/runs', undefined],
])('%s is cured on %s', (command, href, action) => {
  const cure = cureOf(command);
  expect([cure.href, cure.action?.action]).toEqual([href, action]);
  const [, kind = ''] = /^\/(\w+)/.exec(href) ?? [];
  expect(consolePages.some(({ path }) => path === `/${kind}`)).toBe(true);
  expect(() => action === undefined || actions.get(action)?.parameters.parse(cure.action?.values)).not.toThrow();
});

it('a repair is typed on the machine only, whose page has what waits for it', () => {
  for (const command of ['offerline doctor', 'offerline doctor --repair', 'offerline rebuild', 'offerline pictures'])
    expect(cureOf(command), command).toEqual({ href: '/machine', page: 'this machine' });
});

it('what fails comes first, and of that receivers', () => {
  const [receiver, refresh] = ['offerline postbacks test wall', 'offerline run refresh'];
  const listed = byWeight([
    { what: '1', command: refresh },
    { what: '2', command: refresh, alarm: true },
    { what: '3', command: receiver },
    { what: '4', command: receiver, alarm: true },
    { what: '5', command: 'offerline doctor', alarm: true },
  ]);
  expect(listed.map(({ what }) => what).join('')).toBe('42531');
});

it('a viewer has the page of a cure, not its button', () => {
  const held = [{ what: 'an export is held', command: 'offerline offers accept 17' }];
  const [viewer, operator] = ['viewer', 'operator'].map((role) => String(waitingList(held, { role })));
  expect(viewer).toContain('href="/files/17"');
  expect(viewer).not.toContain('<form');
  expect(operator).toContain('action="/actions/accept-export/preview"');
});
