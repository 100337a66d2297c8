import type { Command } from 'commander';
import { readSettings } from '../../../kit/config/settings.ts';
import { UsageError } from '../../../kit/errors/errors.ts';
import { realEffects } from '../../../kit/files/effects.ts';
import { addCommand, existingData, printAnswer } from '../../answer.ts';
import { acceptedPointer } from '../../compose.ts';
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
    const { storage } = readSettings(data);
    if (storage === undefined)
      throw new UsageError(`${data.settingsFile} names no storage: there is nothing to accept`);
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
}
