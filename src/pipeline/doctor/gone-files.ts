import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import type { Settings } from '../../kit/config/settings.ts';
import { PullLedger } from '../../sources/pull-ledger.ts';
import { currentManifest } from '../snapshot/snapshot-store.ts';
import { trouble, type Finding } from './finding.ts';

/** True where what was published has come from elsewhere, as by a copy, and neither a state nor a storage is here. */
export async function isPublishedCopy(data: DataDirectory, { storage }: Pick<Settings, 'storage'>): Promise<boolean> {
  if (storage !== undefined) return false;
  // A warehouse that this user may not enter may have one.
  const hasNoState = await stat(data.stateFile).then(
    () => false,
    (error: NodeJS.ErrnoException) => error.code === 'ENOENT',
  );
  return hasNoState && (await currentManifest(data)) !== undefined;
}

/**
 * Finds that `sites.json` is gone though sites were published by it: runs take it that there are none. A mere copy, as
 * an analyst has, needs none.
 */
export async function examineGoneSites(data: DataDirectory, settings: Pick<Settings, 'storage'>): Promise<Finding[]> {
  if (existsSync(data.sitesFile) || (await isPublishedCopy(data, settings))) return [];
  const { site_terms: everPublished = 0 } = (await currentManifest(data))?.row_counts ?? {};
  if (everPublished === 0) return [];
  const problem = 'does not exist, though sites were published: rewards wait, and a service that starts lets nobody in';
  return [trouble('sites', data.sitesFile, problem, 'bring it back', { repairable: false })];
}

/** Finds that `sources.json` is gone though sources were pulled by it: none is due without it. */
export function examineGoneSources(data: DataDirectory): Finding[] {
  if (existsSync(data.sourcesFile)) return [];
  const pulled = PullLedger.read(
    data,
    (ledger) => ledger.newest(),
    () => undefined,
  );
  if (pulled === undefined || pulled.size === 0) return [];
  const problem = 'does not exist, so nothing is pulled';
  const cure = 'bring it back, or write {"sources": []} into it where nothing is to be pulled any more';
  return [trouble('sources', data.sourcesFile, problem, cure, { repairable: false })];
}
