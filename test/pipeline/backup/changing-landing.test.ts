import { appendFile, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { realEffects } from '../../../src/kit/files/effects.ts';
import { BackupFile } from '../../../src/pipeline/backup/backup-place.ts';
import { takeBackup } from '../../../src/pipeline/backup/take-backup.ts';
import { pullSources } from '../../../pipelines/pull.ts';
import { clockFrom, serve, terminal } from '../../support/declared-network.ts';
import { failingAfter } from '../../support/failing-after.ts';
import { command } from '../../support/commands.ts';
import { PipelineUnderTest } from '../../support/pipeline-under-test.ts';

const now = '2025-03-10T12:00:00Z';

/** A file that lets something happen between the digests of a backup and the reading of its bytes. */
class LateFile extends BackupFile {
  readonly #before: () => Promise<void>;

  constructor(path: string, before: () => Promise<void>) {
    super(path, realEffects.files);
    this.#before = before;
  }

  override async write(archive: Readable): Promise<void> {
    await this.#before();
    await super.write(archive);
  }
}

test('a landing file that is appended to, replaced or removed meanwhile is in the backup as it was', async () => {
  const work = await mkdtemp(join(tmpdir(), 'offerline-backup-'));
  onTestFinished(() => rm(work, { recursive: true }));
  await using pipeline = await PipelineUnderTest.create(new Date(now));
  await pipeline.landOffers('net', [{ external_id: 'one', title: 'One', payout: '1.5' }]);
  await pipeline.refresh(now);
  const landed = async (name: string, minutesAgo: number) => {
    const path = join(pipeline.data.landing, 'offers/net', name);
    await writeFile(path, '{"external_id": "two", "title": "Two"}\n');
    const time = new Date(Date.parse(now) - minutesAgo * 60_000);
    await utimes(path, time, time);
    return path;
  };
  const [grown, replaced, gone] = [
    await landed('a.ndjson', 60),
    await landed('b.ndjson', 5),
    await landed('c.ndjson', 5),
  ];
  const before = await readFile(grown, 'utf8');
  const place = join(work, 'backup.tar');
  const to = new LateFile(place, async () => {
    await appendFile(grown, 'more\n'.repeat(100_000));
    await writeFile(replaced, 'another\n');
    await rm(gone);
  });
  const effects = { ...realEffects, now: () => Date.parse(now) };
  const tracker = { needed: new Set<string>(), parts: () => [] };
  await takeBackup({ data: pipeline.data, terminal, to, allLanding: true, tracker }, effects);
  const restored = new DataDirectory(join(work, 'restored'));
  await command('nowhere', 'restore', place, '--into', restored.root);
  for (const name of ['a.ndjson', 'b.ndjson', 'c.ndjson'])
    expect(await readFile(join(restored.landing, 'offers/net', name), 'utf8')).toBe(before);
});

test('conversions that a killed pull has emitted, and whose file has no name yet, are in the backup', async () => {
  const work = await mkdtemp(join(tmpdir(), 'offerline-backup-'));
  onTestFinished(() => rm(work, { recursive: true }));
  await using pipeline = await PipelineUnderTest.create(new Date(now));
  await pipeline.landOffers('net', [{ external_id: 'one', title: 'One', payout: '1.5' }]);
  await pipeline.refresh(now);
  const items = [{ id: 'v1', click: 'c1', at: '2025-03-09T10:00:00Z', payout: '2' }];
  const base_url = await serve(() => JSON.stringify({ items }));
  const fields = { conversion_id: 'id', click_id: 'click', occurred_at: 'at', payout: 'payout' };
  const conversions = {
    query: { from: '{from}', to: '{to}' },
    records: 'items',
    fields: { ...fields, status: { value: 'credit' }, currency: { value: 'USD' } },
  };
  const entry = { source: 'net', connector: 'http', base_url, conversions };
  await writeFile(pipeline.data.sourcesFile, JSON.stringify({ sources: [entry] }), { mode: 0o600 });
  const pull = (data: DataDirectory, effects = realEffects) =>
    pullSources({ data, terminal }, effects, clockFrom(Date.parse(now)));
  expect(await pull(pipeline.data, failingAfter('conversions: emitted'))).toMatchObject([{ status: 'failed' }]);
  const place = join(work, 'backup.tar');
  await command(pipeline.data.root, 'backup', place);
  const restored = new DataDirectory(join(work, 'restored'));
  await command('nowhere', 'restore', place, '--into', restored.root);
  // It is noted as emitted, so no later pull writes its line again.
  expect(await pull(restored)).toMatchObject([{ status: 'done', conversion_lines: 0 }]);
  const folder = join(restored.landing, 'conversions');
  const landed = (await readdir(folder)).filter((name) => name.startsWith('net-'));
  expect(landed).toEqual([expect.stringMatching(/\.ndjson$/)]);
  expect(await readFile(join(folder, landed[0] ?? ''), 'utf8')).toContain('"conversion_id":"net-v1"');
});
