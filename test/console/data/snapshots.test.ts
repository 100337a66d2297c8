import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { roles } from '../../../src/console/access/users.ts';
import { ConsoleSnapshot } from '../../../src/console/data/console-snapshot.ts';
import { ConsoleSnapshots } from '../../../src/console/data/snapshots.ts';
import { PipelineUnderTest } from '../../support/pipeline-under-test.ts';
import { consoleOver, type Look, type OpenConsole } from '../pages/signed-in.ts';

let pipeline: PipelineUnderTest;
let opened: OpenConsole;
let look: Look;
/** Snapshots before the current one. */
let names: string[];

beforeAll(async () => {
  pipeline = await PipelineUnderTest.create(new Date('2026-11-20T12:00:00Z'), {});
  for (const hour of [7, 8, 9, 10, 11]) {
    const offer = { id: 7, external_id: 'e7', title: 'Game', description: '', payout: String(hour) };
    await pipeline.landOffers('net', [offer]);
    await pipeline.refresh(`2026-11-20T${String(hour).padStart(2, '0')}:00:00Z`, { allowFuture: true });
  }
  const { current, all } = await pipeline.snapshots();
  names = all.filter((name) => name !== 'current' && name < current);
  opened = await consoleOver(pipeline.data);
  look = await opened.as('viewer');
}, 60_000);
afterAll(async () => {
  await opened.close();
  await pipeline[Symbol.asyncDispose]();
});

it('many older snapshots at once are shown or refused with 503, and never closed while they are read', async () => {
  expect(names).toHaveLength(4);
  const asked = [...names, ...names].map((name) => look(`/offers?snapshot=${name}`));
  const answers = await Promise.all(asked);
  const statuses = answers.map(({ status }) => status);
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(2);
  expect(new Set(statuses)).toEqual(new Set([200, 503]));
  for (const { status, text } of answers) expect(text).toContain(status === 200 ? 'Game' : 'try again in a second');
  for (const name of names) expect((await look(`/offers?snapshot=${name}`)).status, name).toBe(200);
});

it('snapshots are compared one pair after the other, in a short queue', async () => {
  const [older, newer] = names;
  const answers = await Promise.all(Array.from({ length: 12 }, () => look(`/snapshots/${older}/diff/${newer}`)));
  const statuses = answers.map(({ status }) => status);
  expect(new Set(statuses)).toEqual(new Set([200, 503]));
  expect((await look(`/snapshots/${older}/diff/${newer}`)).status).toBe(200);
});

it.each(roles)('the most requested pages are rendered for a %s before the first request', async (role) => {
  // A new console, which has had no request.
  const fresh = await consoleOver(pipeline.data);
  const lookAt = await fresh.as(role, `early-${role}`);
  const asked = vi.spyOn(ConsoleSnapshot.prototype, 'askSql');
  try {
    for (const path of ['/offers', '/sites']) expect((await lookAt(path)).status).toBe(200);
    expect(asked).not.toHaveBeenCalled();
  } finally {
    asked.mockRestore();
    await fresh.close();
  }
});

it('a snapshot that cannot be opened for the moment is said once and tried again', async () => {
  const lines: string[] = [];
  const log = pino({ level: 'error' }, { write: (line: string) => void lines.push(line) });
  const snapshots = new ConsoleSnapshots(pipeline.data, log, Date.now);
  const opening = vi.spyOn(ConsoleSnapshot, 'open');
  opening.mockRejectedValueOnce(Object.assign(new Error('EMFILE: open'), { code: 'EMFILE' }));
  opening.mockRejectedValueOnce(new Error('IO Error: Cannot open file "analytics.duckdb": Too many open files'));
  try {
    const shown: boolean[] = [];
    for (let look = 0; look < 3; look++) shown.push(await snapshots.poll());
    expect(shown).toEqual([false, false, true]);
    expect(lines).toEqual([expect.stringContaining('cannot be opened; none is shown')]);
  } finally {
    opening.mockRestore();
    snapshots.close();
  }
});

it('an older snapshot that nobody reads is closed after some minutes', async () => {
  let now = Date.now();
  const snapshots = new ConsoleSnapshots(pipeline.data, pino({ level: 'silent' }), () => now);
  try {
    await snapshots.poll();
    const [older] = names;
    let retired: AbortSignal | undefined;
    const isClosed = async (minutes: number) => {
      now += minutes * 60_000;
      await snapshots.poll();
      await Promise.resolve();
      return retired?.aborted;
    };
    await snapshots.use(older, async (snapshot) => {
      retired = snapshot?.retired;
      // It is read for longer than that.
      expect(await isClosed(20)).toBe(false);
    });
    expect(await isClosed(4)).toBe(false);
    await snapshots.use(older, () => Promise.resolve());
    expect(await isClosed(4)).toBe(false);
    expect(await isClosed(2)).toBe(true);
    // It is opened again for the next reader.
    expect(await snapshots.use(older, async (snapshot) => snapshot?.retired.aborted)).toBe(false);
    expect(snapshots.current?.retired.aborted).toBe(false);
  } finally {
    snapshots.close();
  }
});

it('snapshots that are shown side by side do not share what they spill', async () => {
  const opened = await Promise.all(names.slice(0, 2).map((name) => ConsoleSnapshot.open(join(pipeline.data.published, name))));
  onTestFinished(() => {
    for (const snapshot of opened) snapshot.retire();
  });
  const query = "SELECT current_setting('temp_directory') AS spill";
  const spills = await Promise.all(opened.map(async (snapshot) => (await snapshot.askSql<{ spill: string }>(query)).rows[0]?.spill));
  expect(new Set(spills).size).toBe(2);
});
