import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { pack, type Pack } from 'tar-stream';
import { manifestFile } from '../snapshot/manifest.ts';
import type { KeptSnapshot } from './kept-snapshots.ts';

/**
 * Returns a kept snapshot as a stream of tar: its manifest and all its files, in a folder of its id. The caller keeps
 * it from being retired meanwhile. `onWritten` receives bytes as they are written. Fails with the disk's error.
 */
export function wholeSnapshot({ folder, manifest }: KeptSnapshot, onWritten: (bytes: number) => void): Pack {
  const archive = pack();
  const mtime = new Date(manifest.created_at);
  const write = async () => {
    for (const path of [manifestFile, ...Object.keys(manifest.files)]) {
      const file = join(folder, path);
      const { size } = await stat(file);
      const entry = archive.entry({ name: `${manifest.snapshot_id}/${path}`, mode: 0o644, mtime, size });
      const source = createReadStream(file, { highWaterMark: 2 ** 20 });
      source.on('data', (chunk) => onWritten(chunk.length));
      await pipeline(source, entry);
    }
    archive.finalize();
  };
  write().catch((error: Error) => archive.destroy(error));
  return archive;
}
