import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { replaceFile, type Effects } from '../../kit/files/effects.ts';
import { OfferlineError } from '../../kit/errors/errors.ts';
import { machineFailure } from '../../kit/errors/machine-failure.ts';
import { currentManifest } from '../snapshot/snapshot-store.ts';
import type { Logger } from '../../kit/logging/log.ts';
import { DamagedStateError, tellsDamage } from '../warehouse/database.ts';
import { copyState } from '../warehouse/state-copies.ts';

/**
 * Copies the closed state where a run has published. Damage that shows in the copy is noted for the next opening; what
 * was published stands.
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
      'the state is damaged; the next run puts it aside and goes on from an older copy',
    );
  }
}

/**
 * Leaves word for the next opening where an error of a run tells that the state is damaged. Returns what the operator
 * is told.
 */
export async function noteDamage(
  data: DataDirectory,
  error: unknown,
  effects: Effects,
): Promise<OfferlineError | undefined> {
  if (!(error instanceof Error) || error instanceof OfferlineError || machineFailure(error) !== undefined)
    return undefined;
  if (tellsDamagedFile(error, data)) {
    return new OfferlineError(
      `A file of the warehouse cannot be read; nothing of this run was kept. \`offerline doctor --deep --repair\` finds it and gives it back. ${firstLine(error)}`,
      undefined,
      { cause: error },
    );
  }
  if (!tellsDamage(error)) return undefined;
  // A block that fails its checksum is told without its file's name; nothing else that a run opens is made of blocks.
  if (!error.message.includes(data.stateFile) && !/in block at location/.test(error.message)) return undefined;
  await noteReason(data, error.message, effects);
  return new OfferlineError(
    `${data.stateFile} is damaged; nothing of this run was kept. Run again: the next run puts the file aside and goes on from the last good copy. ${firstLine(error)}`,
    undefined,
    { cause: error },
  );
}

/**
 * Whether an error is about a Parquet file that is gone or cannot be read. Landing files are read before any of it
 * counts.
 */
function tellsDamagedFile({ message }: Error, data: DataDirectory): boolean {
  return (
    [data.events, data.marts].some((folder) => message.includes(folder)) ||
    /ZSTD|Parquet file|parquet.*(corrupt|invalid)|TProtocolException/i.test(message)
  );
}

function firstLine({ message }: Error): string {
  return message.split('\n')[0] ?? '';
}

/** Has the next opening put the state aside for this reason. */
export async function noteReason(data: DataDirectory, reason: string, { files }: Effects): Promise<void> {
  await replaceFile(data.damageNote, `${reason}\n`, 'note of damage', files);
}
