import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { readSettings } from '../../../src/kit/config/settings.ts';
import { UsageError } from '../../../src/kit/errors/errors.ts';
import { generate, type GenerateOptions, type GenerateSummary } from '../../../src/demo/generate/generate.ts';
import { readSites } from '../../../src/kit/sites/sites.ts';
import { moment, readLanding, type LandingContent, type LogRow } from './read-landing.ts';
import { slow } from '../../support/slow.ts';

const end = new Date('2026-03-04T13:37:00Z');
const clicks = 6000;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'offerline-generate-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function generated(
  name: string,
  options: Partial<GenerateOptions> = {},
): Promise<{ out: string; summary: GenerateSummary }> {
  const out = join(folder, name);
  return { out, summary: await generate({ out, seed: 11, clicks, days: 3, end, offers: 60, ...options }) };
}

/** Path and digest of every file below a folder. */
async function tree(root: string): Promise<string[]> {
  const paths = (await readdir(root, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  const lines = await Promise.all(
    paths.map(
      async (path) =>
        `${path.slice(root.length)} ${createHash('sha256')
          .update(await readFile(path))
          .digest('hex')}`,
    ),
  );
  return lines.toSorted();
}

function reasons(rows: LogRow[]): string[] {
  return [...new Set(rows.flatMap(({ reject }) => reject ?? []))].toSorted();
}

/** Accepted rows by key, in the order in which the pipeline takes them up. */
function byKey(rows: LogRow[], key: (event: Record<string, string | null>) => string): Map<string, LogRow[]> {
  return Map.groupBy(
    rows.filter(({ event }) => event !== null),
    ({ event }) => key(event ?? {}),
  );
}
const clickKey = (event: Record<string, string | null>) => String(event['click_id']);
const conversionKey = (event: Record<string, string | null>) => `${event['conversion_id']} ${event['kind']}`;

describe('the same options', () => {
  it('give the same bytes', async () => {
    const first = await generated('same-1');
    const second = await generated('same-2');
    expect(await tree(second.out)).toEqual(await tree(first.out));
    expect({ ...second.summary, out: '' }).toEqual({ ...first.summary, out: '' });
  });

  it('with another seed give other catalogs, sites and logs', async () => {
    const one = await tree((await generated('seed-1', { seed: 1 })).out);
    const two = await tree((await generated('seed-2', { seed: 2 })).out);
    expect(one.filter((line) => two.includes(line)).map((line) => line.split(' ')[0])).toEqual(['/offerline.json']);
  });

  it('with the network seed of another give further traffic of the same network', slow, async () => {
    const history = await generated('history', { messy: false });
    const further = await generated('further', { messy: false, seed: 12, networkSeed: 11 });
    expect(await tree(join(further.out, 'landing/offers'))).toEqual(await tree(join(history.out, 'landing/offers')));
    expect(await readFile(join(further.out, 'sites.json'), 'utf8')).toBe(
      await readFile(join(history.out, 'sites.json'), 'utf8'),
    );
    const zone = 'Asia/Singapore';
    const known = byKey((await readLanding(history.out, end, zone)).clicks, clickKey);
    const repeated = (await readLanding(further.out, end, zone)).clicks.filter(({ event }) =>
      known.has(clickKey(event ?? {})),
    );
    expect(repeated).toEqual([]);
  });
});

describe('a messy network', () => {
  let summary: GenerateSummary;
  let landing: LandingContent;
  let data: DataDirectory;
  beforeAll(async () => {
    const made = await generated('messy');
    summary = made.summary;
    data = new DataDirectory(made.out);
    landing = await readLanding(made.out, end, readSettings(data).logs.conversions.time_zone ?? '');
  });

  it('has the rows that its summary counts', () => {
    for (const [count, rows, key] of [
      [summary.clicks, landing.clicks, clickKey],
      [summary.conversions, landing.conversions, conversionKey],
    ] as const) {
      const rejected = rows.filter(({ reject }) => reject !== null).length;
      const accepted = byKey(rows, key).size;
      expect({ rows: rows.length, accepted, duplicates: rows.length - accepted - rejected, rejected }).toEqual({
        rows: count.rows,
        accepted: count.accepted,
        duplicates: count.duplicates,
        rejected: count.rejected,
      });
    }
    expect(summary.clicks.accepted).toBe(clicks);
    const files = (kind: string) => landing.files.filter((file) => file.kind === kind).length;
    expect([files('offers'), files('clicks'), files('conversions')]).toEqual([
      summary.offers.files,
      summary.clicks.files - 1,
      summary.conversions.files,
    ]);
  });

  it('is written in every format', () => {
    const endings = (kind: string) =>
      new Set(landing.files.filter((file) => file.kind === kind).map(({ path }) => path.replace(/^[^.]*/, '')));
    expect(endings('clicks')).toEqual(new Set(['.ndjson', '.ndjson.gz', '.csv', '.parquet']));
    expect(endings('conversions')).toEqual(new Set(['.ndjson', '.ndjson.gz', '.csv', '.parquet']));
    expect(endings('offers')).toEqual(new Set(['.json', '.ndjson.gz', '.csv', '.parquet']));
  });

  it('has one broken file', () => {
    expect(landing.brokenFiles).toEqual([
      { path: 'clicks/2026-03-02/edge-fra-resent.ndjson.gz', reason: 'broken_gzip' },
    ]);
    expect(summary.clicks.broken).toBe(1);
  });

  it('has rows of each kind that are refused', () => {
    expect(reasons(landing.clicks)).toEqual([
      'bad_click_id',
      'bad_offer_id',
      'future_timestamp',
      'missing_site_key',
      'not_json_object',
      'timestamp_without_offset',
    ]);
    expect(reasons(landing.conversions)).toEqual([
      'bad_kind',
      'bad_occurred_at',
      'bad_payout',
      'missing_click_id',
      'not_json_object',
    ]);
  });

  it('has lines repeated in later files, and clicks told differently a second time', () => {
    const repeated = [...byKey(landing.clicks, clickKey).values()].filter((rows) => rows.length > 1);
    expect(
      repeated.some(
        ([first, second]) =>
          first?.path !== second?.path && JSON.stringify(first?.event) === JSON.stringify(second?.event),
      ),
    ).toBe(true);
    const conflicts = repeated.filter(
      ([first, second]) => JSON.stringify(first?.event) !== JSON.stringify(second?.event),
    );
    expect(conflicts.length).toBeGreaterThan(0);
    expect(
      conflicts.every(
        ([first, second]) => first?.event?.['sub1'] !== 'corrected' && second?.event?.['sub1'] === 'corrected',
      ),
    ).toBe(true);
    const again = [...byKey(landing.conversions, conversionKey).values()].filter((rows) => rows.length > 1);
    expect(again.some((rows) => new Set(rows.map(({ path }) => path)).size > 1)).toBe(true);
  });

  it('has events that arrive in a file of a later day', () => {
    for (const rows of [landing.clicks, landing.conversions]) {
      const late = rows.filter(
        (row) =>
          row.event !== null && new Date(moment(row)).toISOString().slice(0, 10) < (row.path.split('/')[1] ?? ''),
      );
      const keys = byKey(rows, rows === landing.clicks ? clickKey : conversionKey);
      const onlyLate = late.filter(
        ({ event }) =>
          keys.get(rows === landing.clicks ? clickKey(event ?? {}) : conversionKey(event ?? {}))?.length === 1,
      );
      expect(onlyLate.length).toBeGreaterThan(0);
    }
  });

  it('has clicks with odd values, on unlisted offers and on sites not signed up, which are taken', () => {
    const taken = landing.clicks.filter(({ event }) => event !== null);
    expect(taken.some(({ warned }) => warned)).toBe(true);
    expect(taken.some(({ event }) => event?.['external_id'] === 'cl-not-listed')).toBe(true);
    expect(taken.some(({ event }) => event?.['site_key'] === 'not-signed-up')).toBe(true);
  });

  it('has conversions of every kind, milestones, stated payouts and clicks that are missing', () => {
    const events = landing.conversions.map(({ event }) => event).filter((event) => event !== null);
    expect(new Set(events.map((event) => event['kind']))).toEqual(new Set(['credit', 'reject', 'chargeback']));
    expect(events.some((event) => event['event_id'] !== null)).toBe(true);
    expect(events.some((event) => event['payout'] !== null)).toBe(true);
    const known = byKey(landing.clicks, clickKey);
    expect(events.filter((event) => !known.has(clickKey(event))).length).toBeGreaterThan(0);
  });

  it('names offers by our id and by source and external id', () => {
    const named = landing.clicks.map(({ event }) => event).filter((event) => event !== null);
    expect(named.some((event) => event['offer_id'] !== null && event['source'] === null)).toBe(true);
    expect(named.some((event) => event['offer_id'] === null && event['source'] === 'clickfield')).toBe(true);
  });

  it('has sites of every variant, one of them pending, with long secrets', () => {
    const { sites, warnings } = readSites(data.sitesFile);
    expect(warnings).toEqual([]);
    expect(sites).toHaveLength(summary.sites);
    expect(new Set(sites.map(({ variant }) => variant))).toEqual(new Set(['A', 'B', 'C']));
    expect(sites.filter(({ status }) => status === 'pending')).toHaveLength(1);
    expect(new Set(sites.map(({ commission }) => commission)).size).toBeGreaterThan(3);
    expect(sites.every(({ site_secret }) => /^[0-9a-f]{32,}$/.test(site_secret))).toBe(true);
    expect(new Set(sites.map(({ site_secret }) => site_secret)).size).toBe(sites.length);
  });
});

describe('a clean network', () => {
  it('has no repeated, refused or broken rows, yet late ones', async () => {
    const { out, summary } = await generated('clean', { messy: false });
    const { clicks: rows, conversions, brokenFiles } = await readLanding(out, end, 'Asia/Singapore');
    expect(brokenFiles).toEqual([]);
    expect([...rows, ...conversions].filter(({ reject, warned }) => reject !== null || warned)).toEqual([]);
    expect(byKey(rows, clickKey).size).toBe(rows.length);
    expect(byKey(conversions, conversionKey).size).toBe(conversions.length);
    expect(rows).toHaveLength(clicks);
    expect(summary).toMatchObject({
      offers: { rejected: 0 },
      clicks: { rows: clicks, duplicates: 0, rejected: 0, broken: 0 },
      conversions: { duplicates: 0, rejected: 0 },
    });
    expect(rows.some((row) => new Date(moment(row)).toISOString().slice(0, 10) < (row.path.split('/')[1] ?? ''))).toBe(
      true,
    );
  });

  it('lies between the first midnight and the end', async () => {
    const { out, summary } = await generated('bounds', { messy: false });
    const { clicks: rows, conversions } = await readLanding(out, end, 'Asia/Singapore');
    expect([summary.from, summary.to]).toEqual(['2026-03-02T00:00:00.000Z', end.toISOString()]);
    const moments = rows.map(moment);
    expect(Math.min(...moments)).toBeGreaterThanOrEqual(Date.parse(summary.from));
    expect(Math.max(...moments)).toBeLessThan(end.getTime());
    expect(conversions.filter((row) => !(moment(row) <= end.getTime()))).toEqual([]);
    const credits = new Map(byKey(conversions, conversionKey));
    const early = conversions.filter((row) => {
      const credit = credits.get(`${row.event?.['conversion_id']} credit`)?.[0];
      return row.event?.['kind'] !== 'credit' && credit !== undefined && moment(row) <= moment(credit);
    });
    expect(early).toEqual([]);
  });

  it('can be plain NDJSON throughout', async () => {
    const { out } = await generated('ndjson', { messy: false, formats: 'ndjson' });
    const { files, clicks: rows } = await readLanding(out, end, 'Asia/Singapore');
    const endings = files.filter(({ kind }) => kind !== 'offers').map(({ path }) => path.replace(/^[^.]*/, ''));
    expect(new Set(endings)).toEqual(new Set(['.ndjson']));
    expect(rows).toHaveLength(clicks);
  });
});

describe('the traffic', () => {
  it('of a single day that ended at midnight fills that day', async () => {
    const { out, summary } = await generated('midnight', {
      days: 1,
      end: new Date('2026-03-04T00:00:00Z'),
      clicks: 300,
    });
    expect(summary.from).toBe('2026-03-03T00:00:00.000Z');
    expect(await readdir(join(out, 'landing/clicks'))).toEqual(['2026-03-03']);
    expect(summary.clicks.accepted).toBe(300);
  });

  it('reports its progress up to the whole', async () => {
    const seen: [number, number][] = [];
    await generate({ out: join(folder, 'progress'), seed: 1, clicks: 25_000, days: 2, end }, (done, total) =>
      seen.push([done, total]),
    );
    expect(seen).toEqual([
      [0, 25_000],
      [10_000, 25_000],
      [20_000, 25_000],
      [25_000, 25_000],
    ]);
  });
});

describe('a directory', () => {
  it.each(['landing/', 'sites.json', 'offerline.json'])(
    'that has %s already is refused and left as it is',
    async (name) => {
      const out = join(folder, `taken-${name.replace('/', '')}`);
      await mkdir(out);
      if (name.endsWith('/')) await mkdir(join(out, name));
      else await writeFile(join(out, name), '{}');
      await expect(generate({ out, seed: 1, clicks: 10, days: 1, end })).rejects.toThrow(UsageError);
      expect(await readdir(out)).toEqual([name.replace('/', '')]);
    },
  );

  it('holds nothing but the data afterwards, with secrets for the owner alone', async () => {
    // What an earlier attempt left when it was killed.
    await mkdir(join(folder, 'tidy/.generating/landing'), { recursive: true });
    const { out } = await generated('tidy', { clicks: 50 });
    expect((await readdir(out)).toSorted()).toEqual(['landing', 'offerline.json', 'sites.json']);
    expect((await stat(join(out, 'sites.json'))).mode & 0o077).toBe(0);
    const parts = (await readdir(out, { recursive: true })).filter((path) => path.endsWith('.part'));
    expect(parts).toEqual([]);
  });

  it('stays empty when the work breaks off', async () => {
    const out = join(folder, 'broken-off');
    const breakOff = (done: number) => {
      if (done > 0) throw new Error('enough');
    };
    await expect(generate({ out, seed: 1, clicks: 20_000, days: 1, end }, breakOff)).rejects.toThrow('enough');
    expect(await readdir(out)).toEqual([]);
  });

  it.each([
    { clicks: 0 },
    { days: 0 },
    { seed: -1 },
    { seed: 1.5 },
    { offers: 3 },
    { sites: 2 },
    { end: new Date('never') },
  ])('is not begun with options that cannot be used: %o', async (options) => {
    const out = join(folder, 'unused');
    await expect(generate({ out, seed: 1, clicks: 10, days: 1, end, ...options })).rejects.toThrow(UsageError);
    await expect(stat(out)).rejects.toThrow('ENOENT');
  });
});
