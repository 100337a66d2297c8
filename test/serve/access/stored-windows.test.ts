import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pino } from 'pino';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { CountedRequests, StoredWindows } from '../../../src/serve/access/stored-windows.ts';

const length = 3_600_000;
const bucket = (limit: number, name = 'b') => ({ name, limit, length });

let folder: string;
let lines: string[];

beforeEach(() => {
  folder = join(tmpdir(), `offerline-${randomUUID()}`);
  lines = [];
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
});

const log = pino({}, { write: (line: string) => void lines.push(line) });

function open(now = 0, makeFolder?: (path: string) => void): CountedRequests {
  const requests = new CountedRequests(folder, now, log, makeFolder);
  onTestFinished(() => requests.close());
  return requests;
}

const windows = (requests: CountedRequests, now: number) => new StoredWindows('site', requests, now);

test('requests that have not left their windows come back, without a close before', async () => {
  const first = windows(open(), 0);
  for (const at of [0, 10, 10, 20]) await first.consume(bucket(5), at);
  await first.consume(bucket(5, 'other'), 30);
  await first.count(bucket(5, 'counted'), 30);
  const restarted = windows(open(length), length);
  expect(restarted.peek(bucket(5), length)).toEqual({
    allowed: true,
    limit: 5,
    remaining: 2,
    resetAt: 10 + length,
    freeAt: length,
  });
  expect(restarted.peek(bucket(5, 'other'), length)).toMatchObject({ remaining: 4 });
  expect(restarted.peek(bucket(5, 'counted'), length)).toMatchObject({ remaining: 4 });
});

test('requests of one turn are written together, and each only returns when it is written', async () => {
  const first = windows(open(), 0);
  const answers = await Promise.all(Array.from({ length: 50 }, () => first.consume(bucket(40), 5)));
  expect(answers.filter(({ allowed }) => allowed)).toHaveLength(40);
  expect(open(5).remembered('site', 5)).toHaveLength(40);
});

test('requests that wait to be written are written when the table is closed', async () => {
  const requests = open();
  const written = requests.add('site', bucket(5), 5);
  requests.close();
  await written;
  expect(open(5).remembered('site', 5)).toHaveLength(1);
});

test('a request that is refused is not written down, and scopes do not mix', async () => {
  const requests = open();
  const first = windows(requests, 0);
  for (const at of [1, 2, 3]) await first.consume(bucket(2), at);
  expect(windows(open(4), 4).peek(bucket(9), 4).remaining).toBe(7);
  expect(new StoredWindows('address', requests, 4).peek(bucket(9), 4).remaining).toBe(9);
});

test('requests that have left their windows are deleted while the service runs', async () => {
  const first = windows(open(), 0);
  for (let minutes = 0; minutes < 180; minutes++) await first.consume(bucket(5_000), minutes * 60_000);
  const database = new DatabaseSync(join(folder, 'counted.sqlite'), { readOnly: true });
  const rows = Number(database.prepare('SELECT count(*) AS rows FROM counted_requests').get()?.['rows']);
  database.close();
  expect(rows).toBeLessThanOrEqual(71);
});

test('a table that cannot be written to is logged once, and counting goes on', async () => {
  const requests = open();
  const first = windows(requests, 0);
  requests.close();
  const allowed: boolean[] = [];
  for (const at of [1, 2, 3]) allowed.push((await first.consume(bucket(2), at)).allowed);
  expect(allowed).toEqual([true, true, false]);
  expect(lines).toHaveLength(1);
});

test('on a full disk requests are counted in memory, logged once, and written down once there is room', async () => {
  let isFull = true;
  const makeFolder = (path: string) => {
    if (isFull) throw Object.assign(new Error('ENOSPC: no space left on device, mkdir'), { code: 'ENOSPC' });
    mkdirSync(path, { recursive: true });
  };
  const first = windows(open(0, makeFolder), 0);
  const allowed: boolean[] = [];
  for (const at of [1, 2, 3]) allowed.push((await first.consume(bucket(2), at)).allowed);
  expect(allowed).toEqual([true, true, false]);
  expect(lines).toEqual([expect.stringContaining('they are counted in memory')]);
  isFull = false;
  await first.consume(bucket(2, 'other'), 4);
  const restarted = windows(open(5), 5);
  expect(restarted.peek(bucket(2, 'other'), 5).remaining).toBe(1);
  expect(restarted.peek(bucket(2), 5).remaining).toBe(2);
  expect(lines).toHaveLength(1);
});

test.each(['', 'no database at all '.repeat(1000)])(
  'a damaged file (%j) keeps nothing from opening',
  async (content) => {
    mkdirSync(folder);
    await writeFile(join(folder, 'counted.sqlite'), content);
    const first = windows(open(), 0);
    await first.consume(bucket(5), 1);
    expect(windows(open(2), 2).peek(bucket(5), 2).remaining).toBe(4);
    expect(lines.filter((line) => line.includes('damaged'))).toHaveLength(content === '' ? 0 : 1);
  },
);

test('a folder that cannot be made is refused with advice', () => {
  expect(() => new CountedRequests('/dev/null/limits', 0, pino({ level: 'silent' }))).toThrow(
    /a folder that can be written to/,
  );
});
