import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { textKey } from '../../kit/vocabulary/event-key.ts';
import { manifestFile, parseManifest } from '../snapshot/manifest.ts';

/** A Parquet file of a snapshot that a lookup may have to ask. */
export interface ClickFile {
  /** Absolute. */
  path: string;
  /** Names its content: snapshots share most of their files, and what is known of one holds in all of them. */
  sha256: string;
  /** SQL of the key of a row's click id. */
  key: string;
}

/** By what is looked up in them, oldest day first. None where the snapshot has it in a table. */
export interface ClickFiles {
  clicks: ClickFile[];
  conversions: ClickFile[];
  postbacks: ClickFile[];
}

/** Those that the snapshot's views read. */
export async function clickFilesOf(snapshot: string): Promise<ClickFiles> {
  const { files } = parseManifest(await readFile(join(snapshot, manifestFile), 'utf8'));
  const within = (folder: string, key: string) =>
    Object.entries(files)
      .filter(([path]) => path.startsWith(`${folder}/`))
      .map(([path, { sha256 }]) => ({ path: join(snapshot, path), sha256, key }))
      .toSorted((one, other) => (one.path < other.path ? -1 : 1));
  return {
    clicks: within('events/clicks', 'event_key'),
    conversions: within('marts/conversions', textKey('click_id')),
    postbacks: within('marts/postbacks', textKey('click_id')),
  };
}
