import { fileCure } from '../../inspect/file-cure.ts';
import type { Run } from '../../runs/stage.ts';

/** A file that cannot be read whole: its path in the landing folder, the reason's code, and what is wrong where. */
export interface QuarantinedFile {
  file: string;
  reason: string;
  detail: string;
}

/** Warns of a file that is quarantined, with its cure. */
export function warnOfQuarantine({ logger }: Pick<Run, 'logger'>, about: QuarantinedFile): void {
  logger.warn(about, `quarantined, nothing of this file was loaded: ${fileCure(about.reason)}`);
}
