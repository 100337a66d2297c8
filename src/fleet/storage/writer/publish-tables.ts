import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DataDirectory } from '../../../kit/config/data-directory.ts';
import type { Effects } from '../../../kit/files/effects.ts';
import { inLakeOrder, lakeFiles, lakeManifest } from '../../../pipeline/snapshot/lake/lake-files.ts';
import { writeCatalog } from '../../../pipeline/snapshot/lake/write-lake.ts';
import { manifestFile, type Manifest } from '../../../pipeline/snapshot/manifest.ts';
import { contentKey, contentOf, readContent } from '../contents.ts';
import { LostSwapError, StorageError, type ObjectStore } from '../object-store.ts';
import { readPointer, type PointedSnapshot, type StoredPointer } from '../pointer.ts';
import {
  catalogKey,
  catalogNote,
  readableFiles,
  readableName,
  readablePlace,
  type ReadableFile,
} from '../readable-names.ts';

interface PublishingTables {
  data: DataDirectory;
  effects: Effects;
  store: ObjectStore;
}

/** A file of a table, with the snapshot in whose folder it is here. */
type UnnamedTable = ReadableFile & { snapshotId: string };

/**
 * Returns the files of `kept`, newest first, that storage lacks under their readable names. Those of the snapshots that
 * were readable `before` are there, but for `lost` digests.
 */
export async function unnamedTables(
  publishing: PublishingTables,
  kept: readonly PointedSnapshot[],
  before: readonly PointedSnapshot[],
  lost: ReadonlySet<string>,
): Promise<UnnamedTable[]> {
  const wasReadable = ({ manifest }: PointedSnapshot) =>
    before.some((one) => one.readable && one.manifest.sha256 === manifest.sha256);
  const [newest] = kept;
  if (newest === undefined || (wasReadable(newest) && lost.size === 0)) return [];
  const named = new Set(kept.filter(wasReadable).map(({ snapshot_id }) => snapshot_id));
  const shown = kept.filter((one) => one === newest || named.has(one.snapshot_id));
  const tables = (await manifestsOf(publishing, shown)).flatMap((manifest) =>
    readableFiles(manifest).map((file) => ({ ...file, snapshotId: manifest.snapshot_id })),
  );
  const isThere = ({ content, snapshotId }: UnnamedTable) => named.has(snapshotId) && !lost.has(content.sha256);
  const there = new Set(tables.filter(isThere).map(({ key }) => key));
  // Snapshots share files that did not change.
  const unnamed = new Map(tables.filter(({ key }) => !there.has(key)).map((table) => [table.key, table]));
  return [...unnamed.values()];
}

/** Gives a file of a snapshot here its readable name: storage copies the content by itself, where it has it still. */
export async function nameTable(
  { data, store }: PublishingTables,
  { key, content, path, snapshotId }: UnnamedTable,
): Promise<void> {
  if (await store.copy(contentKey(content), key)) return;
  await store.write(key, { path: join(data.published, snapshotId, path), bytes: content.bytes });
}

/**
 * Writes the catalog of the snapshots that the pointer names, where storage has another one. It never names what is
 * not there: files have their names before the pointer is swapped, and lose them only when the catalog is that of the
 * pointer. A writer whose pointer is superseded leaves it to the one that swapped. Throws `StorageError`.
 */
export async function publishCatalog(publishing: PublishingTables, stored: StoredPointer): Promise<void> {
  const { store } = publishing;
  const note = catalogNote(stored.pointer.snapshots);
  try {
    for (;;) {
      const found = await store.head(catalogKey);
      if (note === undefined || found?.note === note) return;
      // After the look at the catalog: from here on any other writer's would fail ours.
      const now = await readPointer(store, stored);
      if (now?.pointer.swap !== stored.pointer.swap) return;
      const bytes = await catalogOf(publishing, stored.pointer.snapshots);
      try {
        const condition = found === undefined ? 'none' : { etag: found.etag };
        await publishing.effects.perform('storage: catalog written', () =>
          store.replace(catalogKey, bytes, condition, note),
        );
        return;
      } catch (error) {
        if (!(error instanceof LostSwapError)) throw error;
      }
    }
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    throw new StorageError(
      `run ${stored.pointer.run_id} is in storage, but ${catalogKey} there, which analysts open, shows an earlier one; the next run writes it. ${error.message}`,
      undefined,
      { cause: error },
    );
  }
}

async function catalogOf(publishing: PublishingTables, snapshots: readonly PointedSnapshot[]): Promise<Buffer> {
  const { data, effects, store } = publishing;
  const shown = inLakeOrder(
    await manifestsOf(
      publishing,
      snapshots.filter(({ readable }) => readable),
    ),
  );
  const lake = { place: readablePlace(store), snapshots: shown, files: lakeFiles(shown, readableName) };
  const path = join(data.scratch, 'storage.ducklake');
  await effects.files.makeDirectory(data.scratch);
  await effects.files.remove(path, 'storage: leftover catalog removed');
  await writeCatalog(data, path, lake, effects);
  return readFile(path);
}

/** Manifests as they are here, where this machine has the snapshots, else as storage has them. */
async function manifestsOf(
  { data, store }: PublishingTables,
  snapshots: readonly PointedSnapshot[],
): Promise<Manifest[]> {
  const manifests: Manifest[] = [];
  for (const { snapshot_id, manifest: content } of snapshots) {
    const here = await readFile(join(data.published, snapshot_id, manifestFile)).catch(() => undefined);
    const isSame = here !== undefined && contentOf(here).sha256 === content.sha256;
    const manifest = lakeManifest((isSame ? here : await readContent(store, content)).toString());
    // One of an earlier version is not in the lake.
    if (manifest !== undefined) manifests.push(manifest);
  }
  return manifests;
}
