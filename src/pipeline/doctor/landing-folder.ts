import { readdir } from 'node:fs/promises';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import type { Settings } from '../../kit/config/settings.ts';
import { findLandingFiles } from '../landing/files/find-files.ts';
import { isUnfinishedName } from '../../kit/vocabulary/landing-formats.ts';
import { knownFiles, landingTrouble, type KnownFile } from '../landing/files/landing-trouble.ts';
import { currentManifest } from '../snapshot/snapshot-store.ts';
import { readAnalytics } from '../snapshot/read-analytics.ts';
import { momentOfMilliseconds } from '../../kit/time/moment.ts';
import { landingKinds } from '../../kit/vocabulary/values.ts';
import { note, trouble, type Finding } from './finding.ts';

/** State of the landing folder. */
export interface LandingReport {
  /** Reason why nothing would be ingested; null where the folder is fine. */
  trouble: string | null;
  /** Number of files there that are not read, and the first of them. */
  ignored: number;
  ignored_files: { path: string; why: string }[];
}

const maxNamed = 10;

/**
 * Reads the folder, and compares it with the published snapshot. A machine that follows storage ingests nothing and
 * needs none. `now` in milliseconds since the epoch.
 */
export async function readLanding(
  data: DataDirectory,
  { storage }: Pick<Settings, 'storage'>,
  now: number,
): Promise<LandingReport> {
  if (storage?.follow === true) return { trouble: null, ignored: 0, ignored_files: [] };
  const scan = await findLandingFiles(data.landing, () => true).catch((error: NodeJS.ErrnoException) => {
    if (error.code === undefined) throw error;
    return `${data.landing} cannot be listed (${error.message}): let the user who runs offerline read it, or mount it again`;
  });
  if (typeof scan === 'string') return { trouble: scan, ignored: 0, ignored_files: [] };
  const { files, ignored } = scan;
  const all = [...ignored, ...(await strayFiles(data.landing))];
  const known = await filesOfSnapshot(data, now);
  return {
    trouble: landingTrouble(data.landing, known, files) ?? null,
    ignored: all.length,
    ignored_files: all.slice(0, maxNamed),
  };
}

/** Returns files and folders beside those that landing reads. */
async function strayFiles(landing: string): Promise<LandingReport['ignored_files']> {
  const names = await readdir(landing).catch((): string[] => []);
  const folders = landingKinds.map((kind) => `landing/${kind}`).join(', ');
  return names
    .filter((name) => !isUnfinishedName(name) && !landingKinds.some((kind) => kind === name))
    .map((name) => ({ path: name, why: `it is in none of ${folders}` }));
}

/** Returns the files that the snapshot knows; none where it cannot be read, which other checks report. */
async function filesOfSnapshot(data: DataDirectory, now: number): Promise<KnownFile[]> {
  if ((await currentManifest(data)) === undefined) return [];
  const sql = knownFiles(`TIMESTAMPTZ '${momentOfMilliseconds(now)}'`);
  return readAnalytics(data.current, (query) => query<KnownFile>(sql)).catch(() => []);
}

export async function examineLandingFolder(
  data: DataDirectory,
  settings: Pick<Settings, 'storage'>,
  now: number,
): Promise<Finding[]> {
  const { trouble: problem, ignored, ignored_files: files } = await readLanding(data, settings, now);
  const [first] = files;
  return [
    ...(problem === null
      ? []
      : [trouble('landing', data.landing, problem, 'until then runs ingest nothing new', { repairable: false })]),
    ...(first === undefined
      ? []
      : [
          note(
            'landing',
            data.landing,
            `${ignored} of its files are not read, the first ${first.path}: ${first.why}`,
            'land them in a format that is read, or move them away',
          ),
        ]),
  ];
}
