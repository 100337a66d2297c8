import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { realEffects } from '../../../../src/kit/files/effects.ts';
import { createLogger } from '../../../../src/kit/logging/log.ts';
import { eventKey } from '../../../../src/kit/vocabulary/event-key.ts';
import { filesThatMayHold } from '../../../../src/pipeline/warehouse/keys/event-keys.ts';
import { mergeKeyRuns, troubleWithKeyRuns } from '../../../../src/pipeline/warehouse/keys/upkeep.ts';
import { click, LogLanding } from '../../../support/log-landing.ts';
import { slow } from '../../../support/slow.ts';

const logger = createLogger(undefined, 'silent');

/** Days that a look-up of clicks leads to. */
async function daysOf(landing: LogLanding, ...clickIds: string[]): Promise<string[]> {
  const { connection } = landing.state;
  const keys = `SELECT ${eventKey.clicks} AS event_key FROM (VALUES ${clickIds.map((id) => `('${id}')`).join(', ')}) AS asked (click_id)`;
  const files = await filesThatMayHold({ connection, data: landing.data, logger }, 'clicks', keys);
  return files.map((path) => /dt=([-\d]+)/.exec(path)?.[1] ?? path);
}

/** Six days of one click each, and as many runs. */
async function sixDays(): Promise<LogLanding> {
  const landing = await LogLanding.create();
  for (let day = 1; day <= 6; day++) {
    const clicked_at = `2026-10-${String(day).padStart(2, '0')}T10:00:00Z`;
    await landing.put(`clicks/${day}.ndjson`, [click(`c${day}`, { clicked_at })]);
    await landing.ingest();
  }
  return landing;
}

it('leads to the days of the events and to no other, before a merge of key runs and after it', slow, async () => {
  await using landing = await sixDays();
  const { connection } = landing.state;
  expect(await daysOf(landing, 'c3', 'c5', 'none')).toEqual(['2026-10-03', '2026-10-05']);
  expect(await daysOf(landing, 'none')).toEqual([]);
  const of = { connection, data: landing.data, effects: realEffects };
  expect(await landing.state.transaction(() => mergeKeyRuns(of, 'clicks', 99, 4))).toBe(6);
  expect(await landing.query('SELECT kind, entries FROM key_runs')).toEqual([{ kind: 'clicks', entries: 6 }]);
  expect(await daysOf(landing, 'c3', 'c5', 'none')).toEqual(['2026-10-03', '2026-10-05']);
  expect(await troubleWithKeyRuns(of, 'clicks', true)).toBeUndefined();
  // The files of before the merge are swept by the next run, which finds a copy of any day.
  await landing.put('clicks/again.ndjson', [
    click('c5', { clicked_at: '2026-11-01T00:00:00Z' }),
    click('c6', { clicked_at: '2026-10-06T10:00:00Z' }),
    click('new'),
  ]);
  await landing.ingest();
  expect((await landing.ledger()).at(-1)).toBe('clicks/again.ndjson loaded 3=1+2+0');
});

it('knows events of any year', async () => {
  await using landing = await LogLanding.create();
  await landing.put('clicks/0.ndjson', [
    click('early', { clicked_at: '0001-01-01T00:00:00Z' }),
    click('epoch', { clicked_at: '1970-01-01T12:00:00Z' }),
    click('now'),
  ]);
  await landing.ingest();
  // So many events that not all files are looked through.
  await landing.put(
    'clicks/many.ndjson',
    Array.from({ length: 9 }, (_, n) => click(`m${n}`, { clicked_at: `2026-10-1${n}T00:00:00Z` })),
  );
  await landing.ingest();
  expect(await daysOf(landing, 'early')).toEqual(['0001-01-01', '1970-01-01']);
  expect(await daysOf(landing, 'now')).toEqual(['2026-11-18']);
});

it('writes keys again that are damaged, gone or too few, and counts no copy meanwhile', slow, async () => {
  await using landing = await sixDays();
  const [first] = await landing.query<{ path: string }>('SELECT path FROM key_runs ORDER BY path');
  const path = join(landing.data.warehouse, first?.path ?? '');
  const damages: [string, () => Promise<unknown>][] = [
    ['a byte flipped', async () => writeFile(path, flipped(await readFile(path)))],
    ['a file gone', async () => removeOneKeyRun(landing)],
    ['a row gone', async () => landing.query(`DELETE FROM key_runs WHERE path = (SELECT min(path) FROM key_runs)`)],
  ];
  for (const [index, [name, damage]] of damages.entries()) {
    await damage();
    const of = { connection: landing.state.connection, data: landing.data };
    expect(await troubleWithKeyRuns(of, 'clicks', true), name).toBeDefined();
    const copies = [1, 4, 6].map((day) => click(`c${day}`, { clicked_at: `2026-11-02T00:00:0${index}Z` }));
    await landing.put(`clicks/copies-${index}.ndjson`, copies);
    await landing.ingest();
    expect((await landing.ledger()).at(-1), name).toBe(`clicks/copies-${index}.ndjson loaded 3=0+3+0`);
    await landing.put(`clicks/news-${index}.ndjson`, [click(`n${index}`), ...copies]);
    await landing.ingest();
    expect((await landing.ledger()).at(-1), name).toBe(`clicks/news-${index}.ndjson loaded 4=1+3+0`);
    expect(await troubleWithKeyRuns(of, 'clicks', true), name).toBeUndefined();
  }
});

function flipped(bytes: Buffer): Buffer {
  bytes[5000] = (bytes[5000] as number) ^ 1;
  return bytes;
}

async function removeOneKeyRun(landing: LogLanding): Promise<void> {
  const [run] = await landing.query<{ path: string }>('SELECT path FROM key_runs ORDER BY path LIMIT 1');
  await rm(join(landing.data.warehouse, run?.path ?? ''));
}
