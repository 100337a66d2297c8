import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { trackerLogs } from '../../../src/tracker/logs/log-names.ts';
import { route, TrackerUnderTest } from '../tracker-under-test.ts';

it('a start cuts what was not whole, hands over what was, and removes what is empty', async () => {
  await using test = await TrackerUnderTest.start({ routes: [route({ offer_id: 1 })] });
  const folder = join(trackerLogs(test.data, 'clicks'), '2026-11-19');
  mkdirSync(folder, { recursive: true });
  const long = 'x'.repeat(200_000);
  const torn = {
    'a-1-000000': 'one\ntwo\nthr',
    'b-1-000000': 'no end',
    'c-1-000000': '',
    'd-1-000000': `one\n${long}`,
    // Zeros that a loss of power left, also before rows that nobody was answered for.
    'e-1-000000': `one\n${'\0'.repeat(2_000_000)}`,
    'f-1-000000': `one\n${'\0'.repeat(100)}\nthree\n`,
    'g-1-000000': `${'x'.repeat(1_100_000)}\ntw\0`,
    'h-1-000000': '\0\0',
  };
  for (const [name, text] of Object.entries(torn)) writeFileSync(join(folder, `${name}.ndjson.part`), text);
  writeFileSync(join(folder, 'someone-else.part'), 'left alone');
  await test.restart();
  const files = Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
  expect(files).toEqual({
    'a-1-000000.ndjson': 'one\ntwo\n',
    'd-1-000000.ndjson': 'one\n',
    'e-1-000000.ndjson': 'one\n',
    'f-1-000000.ndjson': 'one\n',
    'g-1-000000.ndjson': `${'x'.repeat(1_100_000)}\n`,
    'someone-else.part': 'left alone',
  });
});
