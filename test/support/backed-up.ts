import { createHash } from 'node:crypto';
import { lstat, readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { BackupRequest } from '../../src/pipeline/backup/take-backup.ts';
import { PipelineUnderTest } from './pipeline-under-test.ts';

/** A tracker that never ran. */
export const noTracker: BackupRequest['tracker'] = { needed: new Set(), parts: () => [] };

/** A small network after a refresh, with a log that is not read yet. */
export async function smallBackedUpNetwork(): Promise<PipelineUnderTest> {
  const at = (time: string) => `2025-03-10T${time}:00Z`;
  const pipeline = await PipelineUnderTest.create(new Date(at('12:00')), {
    sites: [
      { site_key: 'site', site_secret: 'a secret of the backup’s tests', postback: { url: 'https://site.example/cb' } },
    ],
  });
  await pipeline.landOffers('net', [{ id: 1, external_id: 'one', title: 'One', payout: '1.5' }]);
  const click = { click_id: 'k', offer_id: 1, site_key: 'site', user_id: 'u', clicked_at: at('09:00') };
  await pipeline.landLog('clicks', 'ndjson', [click]);
  const credit = { conversion_id: 'v', click_id: 'k', kind: 'credit', occurred_at: at('10:00') };
  await pipeline.landLog('conversions', 'ndjson', [credit]);
  await pipeline.refresh(at('12:00'));
  await pipeline.landLog('clicks', 'ndjson', [{ ...click, click_id: 'later' }]);
  return pipeline;
}

/** Digests of all files below a folder, and targets of links, by path. */
export async function digestsBelow(folder: string, below = ''): Promise<Record<string, string>> {
  const digests: Record<string, string> = {};
  for (const name of (await readdir(join(folder, below))).toSorted()) {
    const path = below === '' ? name : `${below}/${name}`;
    const about = await lstat(join(folder, path));
    if (about.isDirectory()) Object.assign(digests, await digestsBelow(folder, path));
    else if (about.isSymbolicLink()) digests[path] = `-> ${await readlink(join(folder, path))}`;
    else
      digests[path] = createHash('sha256')
        .update(await readFile(join(folder, path)))
        .digest('hex');
  }
  return digests;
}
