import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { nodeArguments, offerline } from '../support/command-line.ts';
import { asOf, clicks, smallData } from './small-data.ts';

const snapshotsKept = 2;

it('an analyst who holds the database open and the pipeline never hinder one another, and the answers stay the same', async () => {
  await using pipeline = await smallData({ snapshots_kept: snapshotsKept });
  const root = pipeline.data.root;
  expect((await offerline(root, 'run', 'refresh', '--as-of', asOf)).code).toBe(0);
  const { current: held } = await pipeline.snapshots();
  const analyst = await openAnalyst(join(pipeline.data.current, 'analytics.duckdb'));
  const before = await analyst.ask();

  // More refreshes than snapshots are kept, each with news for a day that the held snapshot has too.
  for (let round = 1; round <= snapshotsKept + 2; round++) {
    await pipeline.landLog('clicks', 'ndjson', clicks(`round-${round}`, 10, '2025-03-10T11:15:00Z'));
    const run = { ended: false };
    const refreshed = offerline(root, 'run', 'refresh', '--as-of', `2025-03-10T12:0${round}:00Z`).finally(() => (run.ended = true));
    while (!run.ended) expect(await analyst.ask()).toBe(before);
    expect(await refreshed).toMatchObject({ code: 0, stdout: expect.stringContaining('published') as string });
  }
  expect(await analyst.ask()).toBe(before);
  const { current, all } = await pipeline.snapshots();
  expect(await pipeline.ask('SELECT count(*) AS clicks FROM clicks')).toEqual([{ clicks: 60 }]);
  expect(current).not.toBe(held);
  expect(all).toContain(held);
  // The link, as many folders as are kept, and the one that is held open beyond them.
  expect(all).toHaveLength(1 + snapshotsKept + 1);

  await analyst.close();
  expect((await offerline(root, 'run', 'refresh', '--as-of', '2025-03-10T12:30:00Z')).code).toBe(0);
  expect((await pipeline.snapshots()).all).not.toContain(held);
});

interface Analyst {
  /** A digest of everything that the database says. */
  ask(): Promise<string>;
  close(): Promise<void>;
}

async function openAnalyst(database: string): Promise<Analyst> {
  const child = spawn(process.execPath, [...nodeArguments, fileURLToPath(new URL('analyst.ts', import.meta.url)), database], { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill());
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => {
    const { value, done } = await lines.next();
    if (done === true) throw new Error('the analyst\'s process ended before it answered');
    return value;
  };
  expect(await next()).toBe('ready');
  return {
    ask: () => {
      child.stdin.write('ask\n');
      return next();
    },
    close: async () => {
      const ended = once(child, 'exit');
      child.stdin.end();
      expect((await ended)[0]).toBe(0);
    },
  };
}
