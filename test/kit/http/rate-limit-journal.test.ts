import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { appendFile, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { JournaledWindows, RateLimitJournal } from '../../../src/serve/access/rate-limit-journal.ts';

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

function open(now = 0): RateLimitJournal {
  const journal = new RateLimitJournal(
    join(folder, 'limits'),
    length,
    now,
    pino({}, { write: (line: string) => void lines.push(line) }),
  );
  onTestFinished(() => journal.close());
  return journal;
}

test('what has not expired comes back, once', async () => {
  const windows = new JournaledWindows(open(), 0);
  for (const at of [0, 10, 10, 20]) await windows.consume(bucket(5), at);
  await windows.consume(bucket(5, 'other'), 30);
  // The first one was neither closed nor told to write anything: as after a kill.
  const journal = open();
  const restarted = new JournaledWindows(journal, length);
  expect(restarted.peek(bucket(5), length)).toEqual({
    allowed: true,
    limit: 5,
    remaining: 2,
    resetAt: 10 + length,
    freeAt: length,
  });
  expect(restarted.peek(bucket(5, 'other'), length)).toMatchObject({ remaining: 4 });
  await restarted.consume(bucket(5), length);
  expect([...journal.remembered(length)].map(({ at }) => at)).toEqual([10, 10, 20, 30, length]);
  await restarted.consume(bucket(5), length + 20_000);
  expect([...journal.remembered(length + 20_000)].map(({ at }) => at)).toEqual([length, length + 20_000]);
  expect(
    [...journal.remembered(length)].map(({ at }) => at),
    'nothing of later than the asked moment',
  ).toEqual([10, 10, 20, 30, length]);
});

test('files whose requests have all expired are removed, whichever process wrote them', async () => {
  const earlier = new JournaledWindows(open(), 0);
  for (let minute = 0; minute < 180; minute++) await earlier.consume(bucket(5_000), minute * 60_000);
  const files = await readdir(join(folder, 'limits'));
  expect(files.length).toBeGreaterThan(5);
  expect(files.length).toBeLessThan(10);
  const now = 5 * length;
  const later = new JournaledWindows(open(now), now);
  await later.consume(bucket(5_000), now);
  await later.consume(bucket(5_000), now + length / 2);
  expect(await readdir(join(folder, 'limits'))).toHaveLength(2);
  expect(later.peek(bucket(5_000), now + length / 2).remaining).toBe(4_998);
});

test('what two services on one directory counted is counted together, exactly', async () => {
  const one = new JournaledWindows(open(), 0);
  const other = new JournaledWindows(open(1), 1);
  for (const at of [10, 30, 50]) await one.consume(bucket(10), at);
  for (const at of [20, 40]) await other.consume(bucket(10), at);
  const later = new JournaledWindows(open(60), 60);
  expect(later.peek(bucket(10), 60).remaining).toBe(5);
  for (const [now, remaining] of [
    [10, 6],
    [20, 7],
    [30, 8],
    [40, 9],
    [50, 10],
  ] as const)
    expect(later.peek(bucket(10), now + length).remaining).toBe(remaining);
});

test('requests of one moment are written together, and each only returns when it is written', async () => {
  const windows = new JournaledWindows(open(), 0);
  const other = open();
  const readings = await Promise.all(Array.from({ length: 50 }, () => windows.consume(bucket(40), 5)));
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
  for (const at of [1, 2, 3]) allowed.push((await windows.consume(bucket(2), at)).allowed);
  expect(allowed).toEqual([true, true, false]);
  expect(lines).toHaveLength(1);
});

test('on a full disk requests are counted in memory, said once, and written down once there is room', async () => {
  let isFull = true;
  const makeFolder = (path: string) => {
    if (isFull) throw Object.assign(new Error('ENOSPC: no space left on device, mkdir'), { code: 'ENOSPC' });
    mkdirSync(path);
  };
  const log = pino({}, { write: (line: string) => void lines.push(line) });
  const journal = new RateLimitJournal(join(folder, 'limits'), length, 0, log, makeFolder);
  onTestFinished(() => journal.close());
  const windows = new JournaledWindows(journal, 0);
  const allowed: boolean[] = [];
  for (const at of [1, 2, 3]) allowed.push((await windows.consume(bucket(2), at)).allowed);
  expect(allowed).toEqual([true, true, false]);
  expect(lines).toEqual([expect.stringContaining('they are counted in memory')]);
  isFull = false;
  await windows.consume(bucket(2, 'other'), 4);
  expect([...open(5).remembered(5)].map((request) => request.bucket)).toEqual(['other']);
  expect(lines).toHaveLength(1);
});

test('a file that cannot be read keeps nothing from opening', async () => {
  await new JournaledWindows(open(), 0).consume(bucket(5), 1);
  await mkdir(join(folder, 'limits', '2-1.ndjson'));
  expect(new JournaledWindows(open(3), 3).peek(bucket(5), 3)).toMatchObject({ remaining: 4 });
  expect(lines.some((line) => line.includes('2-1.ndjson'))).toBe(true);
});

test('starts alone leave no expired files behind', async () => {
  for (let start = 0; start < 20; start++) open(start * length);
  expect(await readdir(join(folder, 'limits'))).toHaveLength(2);
});

test('where no other file can be begun the old one goes on; once that works again, another is', async () => {
  const windows = new JournaledWindows(open(), 0);
  await rename(join(folder, 'limits'), join(folder, 'moved'));
  await writeFile(join(folder, 'limits'), '');
  await windows.consume(bucket(5), length / 2);
  await windows.consume(bucket(5), length / 2 + 1);
  expect(lines).toHaveLength(1);
  await rm(join(folder, 'limits'));
  await windows.consume(bucket(5), length / 2 + 2);
  expect(await readdir(join(folder, 'limits'))).toHaveLength(1);
  await rename(
    join(folder, 'limits', (await readdir(join(folder, 'limits')))[0] as string),
    join(folder, 'moved', '9-9.ndjson'),
  );
  await rm(join(folder, 'limits'), { recursive: true });
  await rename(join(folder, 'moved'), join(folder, 'limits'));
  expect(new Set([...open(length).remembered(length)].map(({ at }) => at))).toEqual(
    new Set([length / 2, length / 2 + 1, length / 2 + 2]),
  );
});

test('what is told late does not take what is new along when it leaves', async () => {
  const journal = open(length);
  const request = (at: number) => ({ bucket: 'b', at, expiresAt: at + length, id: `${at}`, alone: false });
  void journal.counted(request(length / 4), length);
  await journal.counted(request(length), length);
  const now = 1.5 * length;
  await journal.counted(request(now));
  expect([...journal.remembered(now)].map(({ id }) => id)).toEqual([`${length}`, `${now}`]);
  expect([...journal.remembered(now, length / 2)].map(({ id }) => id)).toEqual([
    `${length / 4}`,
    `${length}`,
    `${now}`,
  ]);
});

test('lines that are damaged are passed over, and said to be; the others count', async () => {
  await new JournaledWindows(open(), 0).consume(bucket(5), 1);
  const [file = ''] = await readdir(join(folder, 'limits'));
  await appendFile(join(folder, 'limits', file), '\n[["b",2,');
  await new JournaledWindows(open(), 0).consume(bucket(5), 3);
  expect(new JournaledWindows(open(4), 4).peek(bucket(5), 4)).toMatchObject({ remaining: 3 });
  expect(lines.some((line) => line.includes('damaged'))).toBe(true);
});

test('a folder that cannot be made is refused with what to do', () => {
  expect(() => new RateLimitJournal('/dev/null/limits', length, 0, pino({ level: 'silent' }))).toThrow(
    /a folder that can be written to/,
  );
});
