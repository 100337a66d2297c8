import type { Run } from '../../runs/stage.ts';
import type { StateDatabase } from '../../warehouse/database.ts';
import { unnamedFiles } from '../../warehouse/named-files.ts';

/**
 * Removes event and mart files that no committed row names: a run that was killed, or that failed, left them, or others
 * have taken their place.
 */
export async function sweepUnnamedFiles(run: Run, { connection }: StateDatabase): Promise<void> {
  const paths = await unnamedFiles(connection, run.data);
  for (const path of paths) await run.effects.files.remove(path, 'unnamed warehouse file: removed');
  if (paths.length > 0)
    run.logger.info(
      { files: paths.length },
      'removed warehouse files that others have replaced, or that a killed run left',
    );
}
