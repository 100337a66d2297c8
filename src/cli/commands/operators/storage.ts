import type { Command } from 'commander';
import type { DataDirectory } from '../../../kit/config/data-directory.ts';
import { readSettings } from '../../../kit/config/settings.ts';
import type { StorageSettings } from '../../../kit/config/storage-settings.ts';
import { exitCode, UsageError } from '../../../kit/errors/errors.ts';
import { realEffects } from '../../../kit/files/effects.ts';
import { addCommand, existingData, printAnswer } from '../../answer.ts';
import { acceptedPointer, examinedCatalog } from '../../compose.ts';
import type { CommandContext } from '../../context.ts';

export function addStorageCommands(program: Command, context: CommandContext): void {
  const storageCommands = program.command('storage').description('Object storage that snapshots are published to.');
  addCommand(
    storageCommands,
    'accept',
    'Goes on from what storage has, although this machine has seen something newer there',
    'For a bucket that was restored from an older copy, which runs, standbys and following services refuse until then. What this machine has beyond it is discarded; landing files are read again. Call it on each machine.',
  ).action(async (options: { json?: boolean }) => {
    const data = existingData();
    const storage = namedStorage(data);
    const { acceptPointer } = await acceptedPointer.load();
    const answer = await acceptPointer(data, storage, realEffects);
    printAnswer(
      context,
      options,
      answer,
      answer.in_place_of === null
        ? `nothing to accept: ${answer.accepted} of ${answer.url} follows on what this machine has seen`
        : `${answer.accepted} of ${answer.url} is accepted in place of ${answer.in_place_of}; the next look at storage brings it here`,
    );
  });
  addCommand(
    storageCommands,
    'lake',
    'Prints the statement by which analysts open what storage has',
    'Asks storage whether its catalog shows the snapshots that are published there, and exits 1 where it does not: the next run writes it.',
  ).action(async (options: { json?: boolean }) => {
    const { examineCatalog } = await examinedCatalog.load();
    const catalog = await examineCatalog(namedStorage(existingData()));
    const { attach, snapshots, is_current: isCurrent } = catalog;
    const summary = isCurrent
      ? `${snapshots.length} snapshots, the newest ${snapshots[0]}`
      : 'it does not show the newest snapshot: the next run writes it';
    printAnswer(context, options, catalog, `${attach};\n${summary}`);
    if (!isCurrent) process.exitCode = exitCode.failed;
  });
}

function namedStorage(data: DataDirectory): StorageSettings {
  const { storage } = readSettings(data);
  if (storage === undefined)
    throw new UsageError(
      `${data.settingsFile} names no storage: name the bucket there first, as in "storage": {"url": "s3://bucket/prefix"}`,
    );
  return storage;
}
