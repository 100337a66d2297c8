import { statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { readFile } from 'node:fs/promises';
import type { DataDirectory } from '../../../kit/config/data-directory.ts';
import { clickEvents, manifestFile, schemaVersion, tableFile, tablesFolder, type Manifest } from '../manifest.ts';
import { compareTexts } from '../../../kit/text/compare-texts.ts';

/** The lake's table of clicks as their logs say; its view `clicks` finds the offers of those that name one. */
export const clickEventsTable = 'click_events';

/** A file of a table, and the snapshots of the lake in which the table has it. */
export interface LakeFile {
  table: string;
  /** Below the place of the lake, as in the newest snapshot that has it, which is the last to be retired. */
  path: string;
  rows: number;
  bytes: number;
  /** The first snapshot of the lake that has it. */
  begin: number;
  /** The first one that has it no more; null where the newest has it. */
  end: number | null;
}

/** File of a snapshot, by its path in the snapshot's folder. */
interface SnapshotFile {
  snapshotId: string;
  path: string;
  sha256: string;
}

/** Returns the manifests of those snapshots that are whole, as `inLakeOrder` has them. */
export async function lakeSnapshots(data: DataDirectory, names: Iterable<string>): Promise<Manifest[]> {
  const whole: Manifest[] = [];
  for (const name of [...names].toSorted()) {
    const folder = join(data.published, name);
    const text = await readFile(join(folder, manifestFile), 'utf8').catch(() => undefined);
    const manifest = text === undefined ? undefined : lakeManifest(text);
    if (manifest?.snapshot_id === name && hasTables(folder, manifest)) whole.push(manifest);
  }
  return inLakeOrder(whole);
}

/** Returns manifests oldest first. Of two of one run the later counts: the lake's snapshot has the run's number. */
export function inLakeOrder(manifests: readonly Manifest[]): Manifest[] {
  const sorted = manifests.toSorted((one, other) => compareTexts(one.snapshot_id, other.snapshot_id));
  return [...new Map(sorted.map((manifest) => [manifest.run_id, manifest])).values()].toSorted(
    (one, other) => one.run_id - other.run_id,
  );
}

/**
 * Returns a manifest that the lake can show: one of this version, which counts the rows of each file. Its seal is not
 * checked, which takes most of the time: what is used of it is compared with the files.
 */
export function lakeManifest(text: string): Manifest | undefined {
  try {
    const manifest = JSON.parse(text) as Manifest;
    return (manifest.schema_version as number) === schemaVersion ? manifest : undefined;
  } catch {
    return undefined;
  }
}

/** Returns whether all files of tables are there, in their size; synchronously, since there may be thousands. */
function hasTables(folder: string, { files }: Manifest): boolean {
  return (
    Object.entries(files).every(
      ([path, { bytes, rows }]) =>
        lakeTableOf(path) === undefined ||
        (rows !== undefined && statSync(join(folder, path), { throwIfNoEntry: false })?.size === bytes),
    ) && tableFile('offers') in files
  );
}

/**
 * Returns the files of all tables: one row for as long as snapshots that follow each other have the same file. `place`
 * gives the path of a snapshot's file in the lake.
 */
export function lakeFiles(
  snapshots: readonly Manifest[],
  place: (file: SnapshotFile) => string = ({ snapshotId, path }) => `${snapshotId}/${path}`,
): LakeFile[] {
  const files: LakeFile[] = [];
  let before = new Map<string, LakeFile>();
  for (const { run_id: id, snapshot_id: snapshotId, files: own } of snapshots) {
    const now = new Map<string, LakeFile>();
    for (const [path, { sha256, bytes, rows = 0 }] of Object.entries(own)) {
      const table = lakeTableOf(path);
      if (table === undefined) continue;
      const key = `${sha256} ${path}`;
      const file = before.get(key) ?? { table, path, rows, bytes, begin: id, end: null };
      if (!before.delete(key)) files.push(file);
      file.path = place({ snapshotId, path, sha256 });
      now.set(key, file);
    }
    for (const gone of before.values()) gone.end = id;
    before = now;
  }
  return files;
}

/** Returns the table of a snapshot's file; undefined for one that is none of a table's. */
export function lakeTableOf(path: string): string | undefined {
  const folder = dirname(path);
  if (folder === clickEvents) return clickEventsTable;
  if (folder === tablesFolder) return basename(path, '.parquet');
  return dirname(folder) === 'marts' ? basename(folder) : undefined;
}
