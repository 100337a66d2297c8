import { readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { Run } from '../stage/stage.ts';
import type { StateDatabase } from '../warehouse/database.ts';
import { queryRows } from '../warehouse/dialect/rows.ts';

/** Removes event and mart files that no committed row names: a run that was killed, or that failed, left them. */
export async function sweepUnnamedFiles(run: Run, { connection }: StateDatabase): Promise<void> {
  const named = new Set(
    (await queryRows<{ path: string }>(connection, 'SELECT path FROM event_files UNION ALL SELECT path FROM mart_files')).map(({ path }) => path),
  );
  for (const folder of [run.data.events, run.data.marts]) {
    for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }).catch(noneIfMissing)) {
      const path = join(entry.parentPath, entry.name);
      if (entry.isDirectory() || named.has(relative(run.data.warehouse, path))) continue;
      await run.effects.files.remove(path, 'unnamed warehouse file: removed');
      run.logger.info({ file: relative(run.data.root, path) }, 'swept: an unfinished run left it');
    }
  }
}

function noneIfMissing(error: NodeJS.ErrnoException): [] {
  if (error.code === 'ENOENT') return [];
  throw error;
}
