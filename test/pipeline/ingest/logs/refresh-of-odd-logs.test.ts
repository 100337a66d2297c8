import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { refresh } from '../../../../pipelines/refresh.ts';
import { DataDirectory } from '../../../../src/kit/config/data-directory.ts';
import { realEffects } from '../../../../src/kit/files/effects.ts';
import { createLogger } from '../../../../src/kit/logging/log.ts';
import { noProgress } from '../../../../src/kit/logging/progress.ts';
import { click, conversion, csv, ndjson } from '../../../support/log-landing.ts';
import { slow } from '../../../support/slow.ts';

it('rejects, warnings, broken files and edges of time do not stop a publish', slow, async () => {
  // A name that DuckDB would read as a pattern and as a partition, were it let.
  const root = await mkdtemp(join(tmpdir(), 'offerline-[a]-dt=1-'));
  try {
    const data = new DataDirectory(root);
    const put = async (path: string, content: string) => {
      await mkdir(dirname(join(data.landing, path)), { recursive: true });
      await writeFile(join(data.landing, path), content);
    };
    await put(
      'offers/net/a.ndjson',
      ndjson([
        { external_id: 'x', id: 7, title: 'X', payout: '2' },
        'no JSON',
        { external_id: 'y', title: 'Y', payout: '1', level: 'easy', odd: 1 },
      ]),
    );
    await put(
      'clicks/a.ndjson',
      ndjson([
        click('a'),
        click('a', { user_id: 'other' }),
        'no JSON',
        click('b', { device: 'fridge', odd: 1 }),
        click('old', { clicked_at: '0001-01-01T00:00:00Z' }),
        click('before 1970', { clicked_at: '1969-12-31T23:30:00Z' }),
        click('ahead', { clicked_at: '2026-11-19T11:00:00Z' }),
        click('unknown', { offer_id: 99 }),
      ]),
    );
    await put('clicks/b.csv', `${csv([click('d')])}ragged\n`);
    await put('clicks/broken.json', '{');
    await put(
      'conversions/a.ndjson',
      ndjson([
        conversion('x', { click_id: 'a' }),
        conversion('y', { click_id: 'never seen' }),
        conversion('z', { click_id: 'old', occurred_at: '0001-01-01T00:00:00Z' }),
        conversion('w', { click_id: 'b', payout: 'much' }),
        conversion('early', { click_id: 'b', occurred_at: '2026-11-19T11:30:00Z' }),
      ]),
    );
    await writeFile(
      data.sitesFile,
      JSON.stringify({ sites: [{ site_key: 's', site_secret: 'secret-of-sixteen-characters' }] }),
    );
    const request = {
      data,
      terminal: { logger: createLogger({ write: () => true }, 'silent'), progress: noProgress },
      asOf: '2026-11-18T12:00:00Z',
    };
    const effects = { ...realEffects, now: () => Date.parse('2026-11-18T12:00:00Z') };
    const first = await refresh(request, effects);
    expect(first.ingested).toMatchObject({
      files: 5,
      quarantined: 1,
      rows: 18,
      accepted: 13,
      duplicates: 1,
      rejected: 4,
      warnings: 4,
    });
    expect(first.snapshotId).not.toBeNull();
    await put('clicks/later.ndjson', ndjson([click('a'), click('e'), click('never seen')]));
    const second = await refresh(
      { ...request, asOf: '2026-11-18T13:00:00Z' },
      { ...realEffects, now: () => Date.parse('2026-11-18T13:00:00Z') },
    );
    expect(second.ingested).toMatchObject({ files: 1, rows: 3, accepted: 2, duplicates: 1 });
    expect(second.snapshotId).not.toBe(first.snapshotId);
  } finally {
    await rm(root, { recursive: true });
  }
});
