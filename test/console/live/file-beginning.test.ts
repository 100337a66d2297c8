import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { readBeginning } from '../../../src/console/live/file-beginning.ts';

async function shownOf(rows: readonly string[], kind = 'clicks') {
  const landing = await mkdtemp(join(tmpdir(), 'offerline-landing-'));
  onTestFinished(() => rm(landing, { recursive: true }));
  const text = rows.join('\n');
  await writeFile(join(landing, 'file'), text);
  return readBeginning(landing, { path: 'file', kind, bytes: Buffer.byteLength(text) });
}

it.each([
  [
    'values of JSON with colons, and keeps names',
    ['{"user_id":"alice:7","sub1": "bob: x","ip":"2001:db8:abcd:ef::1","tags":["carol","dave","eve"]}'],
    ['{"user_id":"xxxxx:x","sub1": "xxx: x","ip":"xxxx:xxx:xxxx:xx::x","tags":["xxxxx","xxxx","xxx"]}'],
  ],
  [
    'lists of JSON, which are no header',
    ['["carol","alice","eve"]', '["x7","y8","z9"]'],
    ['["xxxxx","xxxxx","xxx"]', '["xx","xx","xx"]'],
  ],
  [
    'text before colons that is in no quotes, also of broken JSON',
    ['{"user_id":"say \\"alice\\": hello', 'bob: 2001:db8:abcd:ef::1', '{"a":"x", ip: abcd:ef::1'],
    ['{"user_id":"xxx \\"xxxxx\\": xxxxx', 'xxx: xxxx:xxx:xxxx:xx::x', '{"a":"x", xx: xxxx:xx::x'],
  ],
  [
    'a first row that is no header',
    ['alice;Firefox;2026-11-20;sub1', 'bob;Chrome;2026-11-20;y'],
    ['xxxxx;xxxxxxx;xxxx-xx-xx;sub1', 'xxx;xxxxxx;xxxx-xx-xx;x'],
  ],
  ['a row of words before another', ['alice,Firefox', 'bob,Chrome'], ['xxxxx,xxxxxxx', 'xxx,xxxxxx']],
  ['a row of words that nothing follows', ['alice,Firefox'], ['xxxxx,xxxxxxx']],
  ['a line of text', ['Visits of Alice', 'c-1,u-1'], ['xxxxxx xx xxxxx', 'x-x,x-x']],
  [
    'values below a header, whose words it keeps',
    ['"Visit Timestamp"\tBrowser\tsub1\tTime (UTC)', '2026-11-20\tAlice\tx\t9'],
    ['"Visit Timestamp"␉Browser␉sub1␉xxxx (xxx)', 'xxxx-xx-xx␉xxxxx␉x␉x'],
  ],
])('of a log it masks %s', async (_what, rows, shown) => {
  expect(await shownOf(rows)).toEqual({ rows: shown, masked: true });
});

it('shows a catalog as it is', async () => {
  const rows = ['{"title":"alice:7"}', '1;2'];
  expect(await shownOf(rows, 'offers')).toEqual({ rows, masked: false });
});
