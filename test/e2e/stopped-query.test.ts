import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, watch } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { launcher } from '../support/command-line.ts';
import { asOf, smallData } from './small-data.ts';
import { slow } from '../support/slow.ts';

const endless = 'SELECT count(*) FROM range(10_000_000_000) AS a, range(1_000_000) AS b';

it('a query that a signal ends leaves nothing, and what a killed one left the next one removes', slow, async () => {
  await using pipeline = await smallData();
  await pipeline.refresh(asOf);
  const folder = await mkdtemp(join(tmpdir(), 'offerline-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const temporary = join(folder, 'tmp');
  await mkdir(temporary);

  const query = (sql: string) =>
    spawn(launcher.executable, [...launcher.words, 'sql', sql], {
      env: { ...process.env, OFFERLINE_DATA: pipeline.data.root, TMPDIR: temporary },
      stdio: 'ignore',
    });

  /** Ends a query by a signal once it has begun. */
  async function endedBy(signal: NodeJS.Signals): Promise<[number | null, string | null]> {
    const child = query(endless);
    const ended = once(child, 'exit') as Promise<[number | null, string | null]>;
    const found = new AbortController();
    const changes = watch(temporary, { signal: found.signal });
    while ((await readdir(temporary)).length === 0) await changes.next();
    found.abort();
    child.kill(signal);
    return ended;
  }

  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    expect(await endedBy(signal)).toEqual([1, null]);
    expect(await readdir(temporary)).toEqual([]);
  }
  expect(await endedBy('SIGKILL')).toEqual([null, 'SIGKILL']);
  expect(await readdir(temporary)).toHaveLength(1);
  expect(await once(query('SELECT 1'), 'exit')).toEqual([0, null]);
  expect(await readdir(temporary)).toEqual([]);
});
