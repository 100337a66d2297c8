import { readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { realEffects, type Effects } from '../../../src/kit/files/effects.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { troubleWithKeyRuns } from '../../../src/pipeline/warehouse/keys/upkeep.ts';
import { click, conversion, LogLanding } from '../../support/log-landing.ts';
import { slow } from '../../support/slow.ts';

const clicksOf = (run: number) =>
  Array.from({ length: 3 }, (_, index) =>
    click(`c-${String(run).padStart(2, '0')}-${index}`, {
      clicked_at: `2026-11-${index === 0 ? '17' : '18'}T10:00:${String(run).padStart(2, '0')}.5Z`,
    }),
  );
const conversionOf = (run: number) => conversion(`v-${String(run).padStart(2, '0')}`);

async function land(landing: LogLanding, run: number): Promise<void> {
  const name = String(run).padStart(2, '0');
  await landing.put(`clicks/${name}.ndjson`, clicksOf(run));
  await landing.put(`conversions/${name}.ndjson`, [conversionOf(run)]);
}

interface EventFile {
  path: string;
  rows: number;
  run_id: number;
  isWhole: boolean;
}

/** Files of a day; `isWhole`: the bounds of their row are those of their events. */
function filesOf(landing: LogLanding, kind: string, day: string): Promise<EventFile[]> {
  const time = kind === 'clicks' ? 'clicked_at' : 'occurred_at';
  return landing.query<EventFile>(
    `SELECT path, rows, run_id, found.rows_found = rows AND found.first = first_at AND found.last = last_at AS "isWhole"
     FROM event_files JOIN (
       SELECT filename, count(*) AS rows_found, min(${time}) AS first, max(${time}) AS last
       FROM read_parquet('${landing.data.events}/${kind}/*/*.parquet', filename = true) GROUP BY filename
     ) AS found ON found.filename = '${landing.data.warehouse}/' || path
     WHERE kind = '${kind}' AND day = '${day}' ORDER BY path`,
  );
}

it('a day that many runs add to has few files, with every event once, in whichever run it came', slow, async () => {
  await using landing = await LogLanding.create();
  for (let run = 1; run <= 20; run++) {
    await land(landing, run);
    await landing.ingest();
    for (const [kind, day, rows] of [
      ['clicks', '2026-11-17', run],
      ['clicks', '2026-11-18', 2 * run],
      ['conversions', '2026-11-18', run],
    ] as const) {
      const files = await filesOf(landing, kind, day);
      expect(files.length).toBeLessThanOrEqual(9);
      expect(files.reduce((sum, file) => sum + file.rows, 0)).toBe(rows);
      expect(files.every(({ isWhole }) => isWhole)).toBe(true);
      // What the last run brought is new to an audit, and nothing else is.
      expect(files.filter(({ run_id }) => run_id === run).map((file) => file.rows)).toEqual([rows / run]);
    }
  }
  expect(await filesOf(landing, 'clicks', '2026-11-18')).toHaveLength(6);

  await using atOnce = await LogLanding.create();
  for (let run = 1; run <= 20; run++) await land(atOnce, run);
  await atOnce.ingest();
  for (const kind of ['clicks', 'conversions'] as const) {
    const columns = '* EXCLUDE (file_id) REPLACE (event_key::VARCHAR AS event_key)';
    expect(await landing.events(kind, columns)).toEqual(await atOnce.events(kind, columns));
    expect(await troubleWithKeyRuns({ ...landing.state, data: landing.data }, kind, true)).toBeUndefined();
  }
  expect(await landing.query('FROM click_hourly ORDER BY ALL')).toEqual(
    await atOnce.query('FROM click_hourly ORDER BY ALL'),
  );

  await landing.put('clicks/again.ndjson', [...clicksOf(2), ...clicksOf(19), click('new')]);
  expect(await landing.ingest()).toMatchObject({ accepted: 1, duplicates: 6 });
});

it('a file of a row group or more stays as it is', slow, async () => {
  await using landing = await LogLanding.create();
  await landing.put(
    'clicks/large.ndjson',
    Array.from({ length: 16_384 }, (_, index) => click(`large-${index}`)),
  );
  await landing.ingest();
  const [large] = await filesOf(landing, 'clicks', '2026-11-18');
  for (let run = 1; run <= 9; run++) {
    await land(landing, run);
    await landing.ingest();
  }
  const files = await filesOf(landing, 'clicks', '2026-11-18');
  expect(files.map(({ rows }) => rows)).toEqual([16_384, 2, 16]);
  expect(files[0]).toEqual(large);
});

it('a state that is not copied with every snapshot has more small files in a day', slow, async () => {
  await using landing = await LogLanding.create();
  for (let run = 1; run <= 9; run++) {
    if (run === 9) await truncate(landing.data.stateFile, 129 * 2 ** 20);
    await land(landing, run);
    await landing.ingest();
  }
  expect(await filesOf(landing, 'clicks', '2026-11-18')).toHaveLength(9);
});

it('where the merging fails the run keeps nothing of it, and the next one has every event once', slow, async () => {
  await using landing = await LogLanding.create();
  for (let run = 1; run <= 9; run++) {
    await land(landing, run);
    if (run < 9) await landing.ingest();
  }
  for (const operation of ['syncFile', 'rename', 'syncDirectory'] as const) {
    const failing = (...words: [string, string, string]) =>
      words.some((word) => word.startsWith('small files'))
        ? Promise.reject(new Error('ends here'))
        : realEffects.files[operation](...words);
    const effects: Effects = { ...realEffects, files: { ...realEffects.files, [operation]: failing } };
    await expect(landing.ingest({ effects })).rejects.toThrow('ends here');
    expect(await landing.ids('clicks')).toHaveLength(24);
  }
  await landing.ingest();
  expect(await landing.ids('clicks')).toHaveLength(27);
  expect(await filesOf(landing, 'clicks', '2026-11-18')).toHaveLength(2);
});

it('a damaged file is left with the others of its day, and named; the run goes on', slow, async () => {
  await using landing = await LogLanding.create();
  for (let run = 1; run <= 8; run++) {
    await land(landing, run);
    await landing.ingest();
  }
  const [damaged] = await filesOf(landing, 'clicks', '2026-11-18');
  const path = join(landing.data.warehouse, damaged?.path as string);
  const bytes = await readFile(path);
  bytes[0] = (bytes[0] as number) ^ 1;
  await writeFile(path, bytes);
  await land(landing, 9);
  const lines: string[] = [];
  await landing.ingest({ logger: createLogger({ write: (line: string) => void lines.push(line) }, 'warn') });
  expect(lines.join('')).toContain(`${path} is not what was written`);
  expect(await filesOf(landing, 'clicks', '2026-11-18')).toHaveLength(9);
  expect(await filesOf(landing, 'clicks', '2026-11-17')).toHaveLength(2);
  expect(await landing.ids('clicks')).toHaveLength(27);
});
