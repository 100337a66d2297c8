import { randomUUID } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { JournaledWindows } from '../../src/serve/journaled-windows.ts';
import { RateLimitJournal } from '../../src/serve/rate-limit-journal.ts';

const length = 3_600_000;
const bucket = (limit: number, name = 'b') => ({ name, limit, length });

let folder: string;
let lines: string[];

beforeEach(async () => {
  folder = join(tmpdir(), `offerline-${randomUUID()}`);
  lines = [];
  await mkdir(folder);
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
});

function open(): RateLimitJournal {
  const journal = new RateLimitJournal(join(folder, 'serve', 'limits.sqlite'), 'site_requests', pino({}, { write: (line: string) => void lines.push(line) }));
  onTestFinished(() => journal.close());
  return journal;
}

test('what has not expired comes back, once, and the rest is removed', async () => {
  const windows = new JournaledWindows(open(), 0);
  for (const at of [0, 10, 10, 20]) await windows.take(bucket(5), at);
  await windows.take(bucket(5, 'other'), 30);
  // The first one was neither closed nor told to write anything: as after a kill.
  const journal = open();
  const restarted = new JournaledWindows(journal, length);
  expect(restarted.look(bucket(5), length)).toEqual({ allowed: true, limit: 5, remaining: 2, resetAt: 10 + length, freeAt: length });
  expect(restarted.look(bucket(5, 'other'), length)).toMatchObject({ remaining: 4 });
  await restarted.take(bucket(5), length);
  expect([...journal.remembered(length)].map(({ at }) => at)).toEqual([10, 10, 20, 30, length]);
  await restarted.take(bucket(5), length + 20_000);
  expect([...journal.remembered(0)], 'expired ones are removed, and those after the asked moment are not told').toEqual([]);
  expect([...journal.remembered(length + 20_000)].map(({ at }) => at)).toEqual([length, length + 20_000]);
});

test('any number of expired requests is removed', async () => {
  const journal = open();
  const windows = new JournaledWindows(journal, 0);
  for (let turn = 0; turn < 2_500; turn++) await windows.take(bucket(5_000), 0);
  expect([...journal.remembered(0)]).toHaveLength(2_500);
  await windows.take(bucket(5_000), length + 20_000);
  expect([...journal.remembered(0)]).toEqual([]);
});

test('requests of one moment are written together, and each only returns when it is written', async () => {
  const windows = new JournaledWindows(open(), 0);
  const other = open();
  const readings = await Promise.all(Array.from({ length: 50 }, () => windows.take(bucket(40), 5)));
  expect(readings.filter(({ allowed }) => allowed)).toHaveLength(40);
  expect([...other.remembered(5)]).toHaveLength(40);
});

test('what waits to be written is written when the journal is closed', async () => {
  const journal = open();
  const written = journal.counted({ bucket: 'b', at: 5, expiresAt: 100 });
  journal.close();
  await written;
  expect([...open().remembered(5)]).toHaveLength(1);
});

test('a journal that cannot be written to is complained about once, and counting goes on', async () => {
  const journal = open();
  const windows = new JournaledWindows(journal, 0);
  journal.close();
  const allowed: boolean[] = [];
  for (const at of [1, 2, 3]) allowed.push((await windows.take(bucket(2), at)).allowed);
  expect(allowed).toEqual([true, true, false]);
  expect(lines).toHaveLength(1);
});

test('a damaged file is begun anew, and said to be', async () => {
  await mkdir(join(folder, 'serve'));
  await writeFile(join(folder, 'serve', 'limits.sqlite'), 'this is not a database, whatever its name says. '.repeat(100));
  const windows = new JournaledWindows(open(), 0);
  expect(lines).toHaveLength(1);
  await windows.take(bucket(2), 1);
  expect([...open().remembered(1)]).toHaveLength(1);
});

test('a file that cannot be made is refused with what to do', () => {
  expect(() => new RateLimitJournal('/dev/null/limits.sqlite', 'site_requests', pino({ level: 'silent' }))).toThrow(/Make its folder writable/);
});
