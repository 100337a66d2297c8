import type { Command } from 'commander';
import { withWarehouse } from '../../../../pipelines/with-warehouse.ts';
import { realEffects } from '../../../kit/files/effects.ts';
import { archivableFiles } from '../../../pipeline/maintenance/archivable-files.ts';
import { momentOfMilliseconds } from '../../../kit/time/moment.ts';
import { visibleText } from '../../../kit/text/visible-text.ts';
import { logsReadAtStart } from '../../../tracker/needed-logs.ts';
import { addCommand, printAnswer, existingData, wholeNumber } from '../../answer.ts';
import type { CommandContext } from '../../context.ts';

const millisecondsPerDay = 86_400_000;

export function addMaintenanceCommands(program: Command, context: CommandContext): void {
  const maintenance = program
    .command('maintenance')
    .description('Shows what grows with time; `run maintenance` does the work.');
  addCommand(
    maintenance,
    'landing',
    'Lists landing files that no run needs any more, to be moved to an archive',
    'One path a line.',
  )
    .requiredOption('--older-than <days>', 'files last changed so many days ago', wholeNumber(1, 36_500))
    .action(async (options: { olderThan: number; json?: boolean }) => {
      const data = existingData();
      const now = realEffects.now();
      const needed = logsReadAtStart(data, now);
      const before = now - options.olderThan * millisecondsPerDay;
      const files = await withWarehouse({ command: 'maintenance landing', data, terminal: context.terminal }, (state) =>
        archivableFiles(data, state, before, (path) => needed.has(path)),
      );
      const shown = files.map(({ path, bytes, modified }) => ({
        path,
        bytes,
        modified_at: momentOfMilliseconds(modified),
      }));
      const paths = shown.map(({ path }) => visibleText(path)).join('\n');
      if (options.json === true || shown.length > 0)
        printAnswer(context, options, { landing: data.landing, files: shown }, paths);
    });
}
