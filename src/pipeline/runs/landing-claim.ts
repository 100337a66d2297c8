import { rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { z } from 'zod';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { UsageError } from '../../kit/errors/errors.ts';
import { replaceFile, type FileEffects } from '../../kit/files/effects.ts';
import { readNote } from '../../kit/files/note-file.ts';
import type { Logger } from '../../kit/logging/log.ts';

const claimSchema = z.object({
  storage: z.string(),
  /** Host and data directory that wrote it: one that could not reach storage yet may name another. */
  by: z.string(),
});
const memorySchema = z.object({ url: z.string() });

/**
 * Marks the landing folder, which machines may share, as read by runs that publish to a storage. Two that publish to
 * different places would each send its postbacks. A machine that itself made the mark, or published to its storage, has
 * moved on and takes the mark along. Throws `UsageError` where another machine's mark is there. A folder that cannot be
 * written stays without one, which the log says.
 */
export async function claimLanding(
  { root, landing, landingClaimFile, storageMemory }: DataDirectory,
  storage: string | undefined,
  logger: Logger,
  files: FileEffects,
): Promise<void> {
  const own = storage?.replace(/\/$/, '');
  const by = `${hostname()}:${root}`;
  const claim = readNote(landingClaimFile, claimSchema);
  const marked = claim?.storage;
  if (marked === own) return;
  const isOwn = () => claim?.by === by || readNote(storageMemory, memorySchema)?.url.replace(/\/$/, '') === marked;
  if (marked !== undefined && !isOwn())
    throw new UsageError(
      `runs of another machine read this landing folder and publish to ${marked}, ${own === undefined ? 'and offerline.json here names no storage' : `and offerline.json here names ${own}`}: both would send its postbacks. Name the same storage, or give this network a landing folder of its own; where those runs have ended for good, remove ${landingClaimFile}`,
    );
  try {
    if (own === undefined) await rm(landingClaimFile, { force: true });
    else await replaceFile(landingClaimFile, `${JSON.stringify({ storage: own, by })}\n`, 'landing claim', files);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (!['ENOENT', 'EROFS', 'EACCES', 'EPERM'].includes(code)) throw error;
    if (own === undefined || code === 'ENOENT') return;
    logger.warn(
      { folder: landing, code },
      `the landing folder cannot be written, so it has no mark that its runs publish to ${own}; the run goes on. A machine that reads it and publishes elsewhere is not refused, and would send the same postbacks: let this user write to the folder or, where it is read-only on purpose, see that all machines that read it name this storage`,
    );
  }
}
