import { appendFile, mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { realEffects } from '../../../src/kit/files/effects.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { noProgress } from '../../../src/kit/logging/progress.ts';
import { BackupFile } from '../../../src/pipeline/backup/backup-place.ts';
import { takeBackup } from '../../../src/pipeline/backup/take-backup.ts';
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
  const terminal = { logger: createLogger({ write: () => true }, 'silent'), progress: noProgress };
  const effects = { ...realEffects, now: () => Date.parse(now) };
  const tracker = { needed: new Set<string>(), parts: () => [] };
  await takeBackup({ data: pipeline.data, terminal, to, allLanding: true, tracker }, effects);
  const restored = new DataDirectory(join(work, 'restored'));
  await command('nowhere', 'restore', place, '--into', restored.root);
  for (const name of ['a.ndjson', 'b.ndjson', 'c.ndjson'])
    expect(await readFile(join(restored.landing, 'offers/net', name), 'utf8')).toBe(before);
});
