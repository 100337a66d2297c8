import { relative } from 'node:path';
import type { Run } from '../../runs/stage.ts';
import type { StateDatabase } from '../../warehouse/database.ts';
import { unnamedFiles } from '../../warehouse/named-files.ts';

/**
 * Removes event and mart files that no committed row names: a run that was killed, or that failed, left them, or others
 * have taken their place.
 */
export async function sweepUnnamedFiles(run: Run, { connection }: StateDatabase): Promise<void> {
  for (const path of await unnamedFiles(connection, run.data)) {
    await run.effects.files.remove(path, 'unnamed warehouse file: removed');
    run.logger.info({ file: relative(run.data.root, path) }, 'swept: nothing names it any more');
  }
}
