import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { DataDirectory } from '../../src/kit/config/data-directory.ts';
import { readReadingNote, type ReadingNote } from '../../src/pipeline/ingest/reading-note.ts';
import { maxForcedEnds } from '../../src/pipeline/ingest/suspects.ts';
import { readAnalytics } from '../../src/pipeline/snapshot/read-analytics.ts';
import { launcher } from '../support/command-line.ts';
import { click, ndjson } from '../support/log-landing.ts';
import { slow } from '../support/slow.ts';

const oneClick = ndjson([click('a', { clicked_at: '2026-11-01T10:00:00Z' })]);
/** More offers than fit into the memory that the refreshes of these tests get. */
const giant = ndjson(
  Array.from({ length: 40_000 }, (_, index) => ({ external_id: `x${index}`, title: `Offer ${index}`, payout: '1' })),
);

let data: DataDirectory;

beforeEach(async () => {
  data = new DataDirectory(await mkdtemp(join(tmpdir(), 'offerline-forced-')));
  await writeFile(data.settingsFile, JSON.stringify({ duckdb: { threads: 1 } }));
  await writeFile(data.sitesFile, JSON.stringify({ sites: [] }));
});

afterEach(() => rm(data.root, { recursive: true }));

async function land(path: string, content: string): Promise<string> {
  const target = join(data.landing, path);
  await mkdir(dirname(target), { recursive: true });
  await writeFile(target, content);
  return target;
}

async function refresh({ memory = 'little' } = {}): Promise<{
  code: number | null;
  signal: string | null;
  told: string;
}> {
  // With one thread to collect garbage: with several, most of the test goes into their last tries.
  const limit = memory === 'little' ? ['--max-old-space-size=48', '--single-threaded-gc'] : [];
  const child = spawn(launcher.executable, [...limit, ...launcher.words, 'run', 'refresh'], {
    env: { ...process.env, OFFERLINE_DATA: data.root },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let told = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (told += text));
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  return { code, signal, told };
}

async function ledger(): Promise<string[]> {
  const rows = await readAnalytics(data.current, (query) =>
    query<{ entry: string }>(
      `SELECT path || ' ' || status || coalesce(' ' || split_part(reason, ':', 1), '') AS entry FROM ingest_files ORDER BY path`,
    ),
  );
  return rows.map(({ entry }) => entry);
}

it('a file whose reading ends a run by force is quarantined by the next, and others get in', slow, async () => {
  await land('clicks/a.ndjson', oneClick);
  await land('clicks/b.ndjson', ndjson([click('b', { clicked_at: '2026-11-01T11:00:00Z' })]));
  const file = await land('offers/giant/a.ndjson', giant);
  expect(await refresh()).toMatchObject({ signal: 'SIGABRT' });
  expect(existsSync(data.readingNote)).toBe(true);
  expect(await refresh()).toMatchObject({
    code: 0,
    told: expect.stringContaining('a run ended by force while it read these files') as string,
  });
  expect(await ledger()).toEqual([
    'clicks/a.ndjson loaded',
    'clicks/b.ndjson loaded',
    'offers/giant/a.ndjson quarantined ended_a_run',
  ]);
  expect(existsSync(data.readingNote)).toBe(false);

  await utimes(file, new Date(), new Date());
  expect(await refresh(), 'touched, it is read again').toMatchObject({ signal: 'SIGABRT' });
});

/**
 * A refresh in a process group of its own, which is killed whole once what it notes of its reading is as wanted. Gives
 * what it told.
 */
async function refreshKilledWithAll(isWanted: (note: ReadingNote) => boolean): Promise<string> {
  const child = spawn(launcher.executable, [...launcher.words, 'run', 'refresh'], {
    env: { ...process.env, OFFERLINE_DATA: data.root },
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  });
  let told = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (told += text));
  const closed = once(child, 'close') as Promise<[code: number | null, signal: string | null]>;
  const over = closed.then(() => true);
  for (;;) {
    const note = readReadingNote(data);
    if (note !== undefined && isWanted(note)) break;
    if (await Promise.race([over, setTimeout(2, false)])) throw new Error(`the refresh ended by itself: ${told}`);
  }
  process.kill(-(child.pid as number), 'SIGKILL');
  expect((await closed)[1]).toBe('SIGKILL');
  return told;
}

it('a file that ends every process that reads it is quarantined in the end, and alone', slow, async () => {
  await land('clicks/a.ndjson', oneClick);
  await land('offers/giant/a.ndjson', giant);
  await refreshKilledWithAll(({ ended }) => ended === 0);
  // As a container that runs out of memory ends: the process that reads on trial dies with the one that watches it.
  expect(await refreshKilledWithAll(({ ended }) => ended === 1)).toContain(
    'a run ended by force while it read these files',
  );
  // Those in between, which only count on.
  await writeFile(data.readingNote, JSON.stringify({ ...readReadingNote(data), ended: maxForcedEnds - 2 }));
  await refreshKilledWithAll(({ ended }) => ended === maxForcedEnds - 1);
  // Now each is noted and read alone: the click log passes, the giant takes everybody along once more.
  await refreshKilledWithAll(({ ended, alone }) => ended === maxForcedEnds && alone?.path === 'offers/giant/a.ndjson');
  expect(await refresh({ memory: 'enough' })).toMatchObject({
    code: 0,
    told: expect.stringContaining('a run ended by force while it read these files') as string,
  });
  expect(await ledger()).toEqual(['clicks/a.ndjson loaded', 'offers/giant/a.ndjson quarantined ended_a_run']);
  expect(existsSync(data.readingNote)).toBe(false);
});

it('what was read when somebody killed a run is read again and stored', slow, async () => {
  const file = await land('clicks/a.ndjson', oneClick);
  const { mtimeNs, ctimeNs } = await stat(file, { bigint: true });
  await mkdir(data.warehouse);
  const noted = {
    path: 'clicks/a.ndjson',
    bytes: oneClick.length,
    modified_ns: String(mtimeNs),
    changed_ns: String(ctimeNs),
  };
  await writeFile(data.readingNote, JSON.stringify({ files: [noted], ended: 0, alone: null }));
  expect(await refresh()).toMatchObject({ code: 0, told: expect.stringContaining('a run ended by force') as string });
  expect(await ledger()).toEqual(['clicks/a.ndjson loaded']);
  expect(existsSync(data.readingNote)).toBe(false);
});
