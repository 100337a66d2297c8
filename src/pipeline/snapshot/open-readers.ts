import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { snapshotNames } from './snapshot-store.ts';
import { analyticsFile } from './manifest.ts';

/** Returns the names of snapshots that a reader has open, by DuckDB's lock on the file. Only Linux lists locks. */
export async function snapshotsWithReaders(data: DataDirectory): Promise<Set<string>> {
  const locks = await readFile('/proc/locks', 'utf8').catch(() => '');
  const inodes = new Set([...locks.matchAll(/\b[0-9a-f]+:[0-9a-f]+:(\d+)\b/g)].map(([, inode]) => inode as string));
  const held = new Set<string>();
  for (const name of await snapshotNames(data)) {
    const about = await stat(join(data.published, name, analyticsFile)).catch(() => undefined);
    if (about !== undefined && inodes.has(String(about.ino))) held.add(name);
  }
  return held;
}
