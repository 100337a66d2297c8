import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { replaceFile, type Effects } from '../../kit/files/effects.ts';
import { OfferlineError } from '../../kit/errors/errors.ts';
import { machineFailure } from '../../kit/errors/machine-failure.ts';
import { currentManifest } from '../snapshot/snapshot-store.ts';
import type { Logger } from '../../kit/logging/log.ts';
import { DamagedStateError, isDamage } from '../warehouse/database.ts';
import { copyState } from '../warehouse/state-copies.ts';

/**
 * Copies the closed state where a run has published. Notes damage that the copy shows for the next opening; the
 * published snapshot stays.
 */
export async function keepCopy({
  data,
  logger,
  effects,
}: {
  data: DataDirectory;
  logger: Logger;
  effects: Effects;
}): Promise<void> {
  const published = await currentManifest(data);
  if (published === undefined) return;
  try {
    await copyState(data, published.run_id, effects.files);
  } catch (error) {
    if (!(error instanceof DamagedStateError)) throw error;
    await noteReason(data, error.message, effects);
    logger.warn(
      { reason: error.message },
      `${data.stateFile} is damaged; the next run moves it to put-aside/ and restores what is whole of it, else the newest good copy`,
    );
  }
}

/**
 * Notes damage of the state for the next opening, where a run's error shows it. Returns the error for the operator;
 * undefined for an error that shows no damage.
 */
export async function noteDamage(
  data: DataDirectory,
  error: unknown,
  effects: Effects,
): Promise<OfferlineError | undefined> {
  if (!(error instanceof Error) || error instanceof OfferlineError || machineFailure(error) !== undefined)
    return undefined;
  if (isDamagedFile(error, data)) {
    return new OfferlineError(
      `A file of the warehouse cannot be read; nothing of this run was kept. \`offerline doctor --deep --repair\` finds and restores it. ${firstLine(error)}`,
      undefined,
      { cause: error },
    );
  }
  if (!isDamage(error)) return undefined;
  // DuckDB reports a block with a bad checksum without its file; a run opens no other file made of blocks.
  if (!error.message.includes(data.stateFile) && !/in block at location/.test(error.message)) return undefined;
  await noteReason(data, error.message, effects);
  return new OfferlineError(
    `${data.stateFile} is damaged; nothing of this run was kept. Run again: the next run moves the file to put-aside/ and restores what is whole of it, else the newest good copy. ${firstLine(error)}`,
    undefined,
    { cause: error },
  );
}

/** Returns whether an error is about a missing or unreadable Parquet file of the warehouse. */
function isDamagedFile({ message }: Error, data: DataDirectory): boolean {
  return (
    [data.events, data.marts].some((folder) => message.includes(folder)) ||
    /ZSTD|Parquet file|parquet.*(corrupt|invalid)|TProtocolException/i.test(message)
  );
}

function firstLine({ message }: Error): string {
  return message.split('\n')[0] ?? '';
}

/** Makes the next opening recover the state for this reason. */
export async function noteReason(data: DataDirectory, reason: string, { files }: Effects): Promise<void> {
  await replaceFile(data.damageNote, `${reason}\n`, 'note of damage', files);
}
