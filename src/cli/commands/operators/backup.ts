import type { Command } from 'commander';
import { DataDirectory } from '../../../kit/config/data-directory.ts';
import { realEffects } from '../../../kit/files/effects.ts';
import { BackupObject, isObjectAddress } from '../../../pipeline/backup/backup-object.ts';
import { BackupFile, type BackupPlace } from '../../../pipeline/backup/backup-place.ts';
import { restoreBackup } from '../../../pipeline/backup/restore-backup.ts';
import { takeBackup } from '../../../pipeline/backup/take-backup.ts';
import { logsReadAtStart } from '../../../tracker/needed-logs.ts';
import { ownLogs } from '../../../tracker/logs/log-names.ts';
import { addCommand, existingData, fieldLines, printAnswer } from '../../answer.ts';
import type { CommandContext } from '../../context.ts';

export function addBackupCommands(program: Command, context: CommandContext): void {
  addCommand(
    program,
    'backup <place>',
    'Writes a consistent copy of the data directory into one file, while everything goes on',
    'The place is a file, or a folder in which each backup gets its name; or `s3://bucket/name.tar`, or a prefix that ends in a slash, with the keys of AWS’s own variables. `pipelines/README.md` says what it holds.',
  )
    .option('--landing', 'with all landing files, not only those that something still reads')
    .action(async (place: string, options: { landing?: boolean; json?: boolean }) => {
      const data = existingData();
      const { manifest, ...written } = await takeBackup({
        data,
        terminal: context.terminal,
        to: placeOf(place),
        allLanding: options.landing === true,
        tracker: {
          needed: logsReadAtStart(data, realEffects.now()),
          // A conversion comes after its click, so the clicks are copied last.
          parts: () =>
            (['conversions', 'clicks'] as const).flatMap((kind) =>
              ownLogs(data, kind).flatMap(({ path, isWhole }) => (isWhole ? [] : [path])),
            ),
        },
      });
      const { run_id, as_of, snapshot_id, created_at, landing, not_included, members } = manifest;
      const answer = { backup: written.place, created_at, run_id, as_of, snapshot_id, landing, files: members.length };
      printAnswer(
        context,
        options,
        { ...answer, bytes: written.bytes, not_included },
        [
          fieldLines({ ...answer, bytes: written.bytes }),
          ...(not_included.length > 0 ? ['', 'not in the backup:', ...not_included.map((each) => `  ${each}`)] : []),
        ].join('\n'),
      );
    });
  addCommand(
    program,
    'restore <place>',
    'Makes a data directory of a backup, once each of its bytes is checked',
    'The directory has to be empty but for `landing`. Ended by force, it is completed by the same command. `pipelines/README.md` says what comes back, and what to do then.',
  )
    .option('--into <directory>', 'data directory to make (default: OFFERLINE_DATA)')
    .action(async (place: string, options: { into?: string; json?: boolean }) => {
      const data = options.into === undefined ? DataDirectory.fromEnvironment() : new DataDirectory(options.into);
      const { manifest, landing } = await restoreBackup({ data, terminal: context.terminal, from: placeOf(place) });
      const { run_id, as_of, snapshot_id, created_at, not_included, members } = manifest;
      const answer = { data: data.root, created_at, run_id, as_of, snapshot_id, files: members.length, landing };
      const steps = [
        ...not_included.map((each) => `provide ${each}`),
        landing
          ? 'put landing files that came since into landing/, with their times, as by `cp -rnp`, and the newer landing/.tracker/completions.ndjson in place of this one'
          : 'landing/ stays as it was: the backup’s landing files are left out',
        'end everything that works on the directory which this one replaces',
        '`offerline doctor`, then `offerline run refresh`',
      ];
      printAnswer(
        context,
        options,
        { ...answer, not_included },
        [fieldLines(answer), '', 'next:', ...steps.map((step) => `  ${step}`)].join('\n'),
      );
    });
}

function placeOf(place: string): BackupPlace {
  return isObjectAddress(place) ? new BackupObject(place) : new BackupFile(place, realEffects.files);
}
