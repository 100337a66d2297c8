import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { finalName, newLogName, ownLogs, trackerLogs } from '../../../src/tracker/logs/log-names.ts';

it('logs are in the order in which they began, also after a restart within a day', () => {
  const data = new DataDirectory(mkdtempSync(join(tmpdir(), 'offerline-names-')));
  onTestFinished(() => rmSync(data.root, { recursive: true }));
  const morning = Date.parse('2026-11-20T08:00:00Z');
  const written = [
    ['2026-11-19', finalName(newLogName('ff', morning - 86_400_000, 7))],
    ['2026-11-20', finalName(newLogName('ee', morning, 0))],
    ['2026-11-20', finalName(newLogName('ee', morning, 1))],
    // Another process, whose id comes before the first one's.
    ['2026-11-20', finalName(newLogName('aa', morning + 60_000, 0))],
    ['2026-11-20', newLogName('cc', morning + 120_000, 0)],
  ] as const;
  for (const [day, name] of written) {
    const folder = join(trackerLogs(data, 'clicks'), day);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, name), '');
  }
  expect(ownLogs(data, 'clicks').map(({ day, path }) => [day, basename(path)])).toEqual(written);
});
