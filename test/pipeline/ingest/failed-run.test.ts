import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { defaultSettings, settingsSchema } from '../../../src/kit/config/settings.ts';
import { realEffects, type Effects } from '../../../src/kit/files/effects.ts';
import { it } from '../../support/landing-test.ts';
import { click, conversion, type LogLanding } from '../../support/log-landing.ts';
import { parquet } from '../../support/parquet.ts';
import { slow } from '../../support/slow.ts';

const tables = [
  'ingest_files',
  'landing_seen',
  'rejects',
  'ingest_warnings',
  'event_files',
  'conversion_events',
  'conversion_clicks',
  'click_hourly',
  'dirty_days',
  'outdated_reports',
  'warehouse_facts',
  'offers',
  'offer_versions',
];

async function content(landing: LogLanding): Promise<unknown> {
  return Promise.all(
    tables.map(async (table) => [
      table,
      await landing.query(`SELECT to_json(t)::VARCHAR AS row FROM ${table} AS t ORDER BY ALL`),
    ]),
  );
}

async function warehouseFiles(landing: LogLanding): Promise<string[]> {
  const entries = await readdir(landing.data.events, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
}

const operations = {
  makeDirectory: (path: string) => realEffects.files.makeDirectory(path),
  syncFile: (path: string, step: string) => realEffects.files.syncFile(path, step),
  syncDirectory: (path: string, step: string) => realEffects.files.syncDirectory(path, step),
  rename: (from: string, to: string, step: string) => realEffects.files.rename(from, to, step),
};

/** Files whose operations work until the one that is named comes for the nth time. */
function failingFiles(operation: keyof typeof operations, nth: number): Effects {
  let calls = 0;
  const failing = (first: string, second: string, third: string) =>
    ++calls === nth ? Promise.reject(new Error('disk full')) : operations[operation](first, second, third);
  return { ...realEffects, files: { ...realEffects.files, [operation]: failing } };
}

it.for([
  ['syncFile', 1],
  ['syncFile', 3],
  ['rename', 1],
  ['rename', 2],
  ['rename', 4],
  ['syncDirectory', 1],
  ['syncDirectory', 3],
  ['makeDirectory', 2],
] as const)(
  'a run that fails at %s number %i changes nothing, the next one sweeps',
  slow,
  async ([operation, nth], { landing }) => {
    await landing.put('clicks/0.ndjson', [click('old'), 'bad']);
    await landing.ingest();
    const [before, filesBefore] = [await content(landing), await warehouseFiles(landing)];

    await landing.put('clicks/1.ndjson', [
      click('c1'),
      click('c2', { clicked_at: '2026-11-17T10:00:00Z' }),
      click('old'),
      'bad too',
      click('c3', { device: 'fridge' }),
    ]);
    await landing.put('conversions/1.ndjson', [
      conversion('x'),
      conversion('y', { occurred_at: '2026-11-17T10:00:00Z' }),
    ]);
    await landing.put('offers/net/1.ndjson', [{ external_id: 'a', title: 'A', payout: '1' }]);
    await landing.put('clicks/broken.json', '{');
    await expect(landing.ingest({ effects: failingFiles(operation, nth) })).rejects.toThrow('disk full');
    expect(await content(landing)).toEqual(before);

    expect(await landing.ingest()).toMatchObject({
      files: 4,
      quarantined: 1,
      offerVersions: 1,
      rows: 8,
      accepted: 6,
      duplicates: 1,
      rejected: 1,
      warnings: 1,
    });
    expect(await landing.ids('clicks')).toEqual(['c1', 'c2', 'c3', 'old']);
    const named = (await landing.query<{ path: string }>('SELECT path FROM event_files')).map(({ path }) =>
      join(landing.data.warehouse, path),
    );
    expect(await warehouseFiles(landing)).toEqual(named.toSorted());
    expect(await warehouseFiles(landing)).toEqual(expect.arrayContaining(filesBefore));
    expect(await landing.ingest()).toMatchObject({ files: 0 });
  },
);

it('a run that fails while it reads a log again leaves what the log said before', async ({ landing }) => {
  await landing.put('clicks/a.ndjson', [click('a'), click('b', { clicked_at: '2026-11-18T10:00:00' }), 'bad']);
  await landing.ingest();
  const before = await content(landing);
  const settings = { ...defaultSettings, logs: { clicks: { time_zone: 'UTC' }, conversions: {} } };
  await expect(landing.ingest({ settings, effects: failingFiles('rename', 1) })).rejects.toThrow('disk full');
  expect(await content(landing)).toEqual(before);
  expect(await landing.ingest({ settings })).toMatchObject({ readAgain: 1, accepted: 1 });
  expect(await landing.ledger()).toEqual(['clicks/a.ndjson loaded 3=2+0+1']);
});

const reads = {
  conversion_id: 'id',
  click_id: 'id',
  kind: { value: 'credit' },
  occurred_at: 'at',
  payout: 'pay',
  currency: 'in',
};
const mapped = { id: 'v', at: '2026-11-18T10:00:00Z', pay: '1', in: 'XTS' };
const asParquet = `SELECT ${Object.entries(mapped)
  .map(([name, value]) => `'${value}' AS "${name}"`)
  .join(', ')}`;

it.for([
  ['offers/net/a.ndjson', () => [{ external_id: 'a', title: 'A', payout: '1', currency: 'XTS' }]],
  ['conversions/net/a.ndjson', () => [mapped]],
  ['conversions/net/a.parquet', () => parquet(asParquet)],
] as const)('a fault of the program at reading a file names it: %s', async ([path, landed], { landing }) => {
  await landing.put(path, await landed());
  const rates = Object.defineProperty({}, 'XTS', {
    get() {
      throw new RangeError('Maximum call stack size exceeded');
    },
  });
  const { files } = settingsSchema.parse({ files: [{ match: 'conversions/**', fields: reads }] });
  await expect(landing.ingest({ settings: { ...defaultSettings, files, rates } })).rejects.toThrow(
    `${path} cannot be read (RangeError: Maximum call stack size exceeded)`,
  );
});

it('what a killed run left is swept, and nothing else', async ({ landing }) => {
  await landing.put('clicks/a.ndjson', [click('a')]);
  await landing.ingest();
  const files = await warehouseFiles(landing);
  for (const name of ['run-00000099-0.parquet', 'half.parquet.tmp'])
    await writeFile(join(landing.data.events, 'clicks/dt=2026-11-18', name), 'litter');
  await writeFile(join(landing.data.scratch, '..', 'kept.txt'), 'not ours to remove');
  await landing.ingest();
  expect(await warehouseFiles(landing)).toEqual(files);
  expect(await readdir(landing.data.warehouse)).toContain('kept.txt');
  expect(await landing.ids('clicks')).toEqual(['a']);
});
