import { chownSync, existsSync, realpathSync, statSync } from 'node:fs';
import { exitCode, OfferlineError } from '../errors/errors.ts';
import { acquireProcessLock } from './process-lock.ts';

/** Seconds to wait for another edit, which takes far less. */
const waitSeconds = 10;

/**
 * Edits a file that operators keep; edits at the same time come one after the other. Throws `OfferlineError` where
 * another edit does not end.
 *
 * @param name Of the file within a sentence: "the list of sites is busy".
 * @param command Shown to those who wait.
 */
export async function editAlone<Result>(
  file: string,
  { name, command }: { name: string; command: string },
  edit: () => Promise<Result>,
): Promise<Result> {
  // Of the file itself, so that those who come by a link and those who do not wait for each other.
  const lockFile = `${existsSync(file) ? realpathSync(file) : file}.lock`;
  const lock = await acquireProcessLock(
    { name, lockFile, busy: (message) => new OfferlineError(message, exitCode.busy) },
    { command, waitSeconds, onWaiting: () => undefined },
  );
  try {
    return await edit();
  } finally {
    lock.release();
    leaveToOwner(lockFile, file);
  }
}

/** Lets the owner of the file take the lock, too, where root made it. */
function leaveToOwner(lockFile: string, file: string): void {
  if (process.getuid?.() !== 0 || !existsSync(file)) return;
  const { uid, gid } = statSync(file);
  chownSync(lockFile, uid, gid);
}
