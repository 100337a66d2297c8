import { fileCure } from '../../inspect/file-cure.ts';
import type { Run } from '../../runs/stage.ts';

/** Warns of a file that is quarantined, with its cure. */
export function warnOfQuarantine(
  { logger }: Pick<Run, 'logger'>,
  about: { file: string; reason: string | null; detail?: string },
): void {
  logger.warn(about, `quarantined, nothing of this file was loaded: ${fileCure(about.reason ?? '')}`);
}
