import type { Command } from 'commander';
import { realEffects } from '../../../kit/files/effects.ts';
import { readSettings } from '../../../kit/config/settings.ts';
import { readSources } from '../../../sources/config/sources-file.ts';
import { dayOption } from '../../../kit/time/moment.ts';
import { firstKeptDay } from '../../../tracker/conversions/refused-conversions.ts';
import { replayRefused } from '../../../tracker/conversions/replay.ts';
import { trackerAddress } from '../../../tracker/tracker-address.ts';
import { addCommand, printAnswer, existingData, textTable } from '../../answer.ts';
import type { CommandContext } from '../../context.ts';

interface ReplayOptions {
  since?: string;
  dryRun?: boolean;
  port?: number;
  host?: string;
  json?: boolean;
}

/** Adds `track replay`, which takes over the address and `--json` of `track`. */
export function addReplayCommand(track: Command, context: CommandContext): void {
  addCommand(
    track,
    'replay',
    'Submits reported conversions that were refused once more',
    'The tracker that runs records those that hold by now, by the configuration and catalog of now; what was recorded since is left alone.',
  )
    .option('--since <day>', 'reports that came on that UTC day or later (default: all that are kept)')
    .option('--dry-run', 'show what would be submitted, by source and reason; submit nothing')
    .action(async (_own: ReplayOptions, command: Command) => {
      const options: ReplayOptions = command.optsWithGlobals();
      const data = existingData();
      const reporting = readSources(data).sources.filter(({ postback }) => postback !== undefined);
      const replayed = await replayRefused({
        data,
        tracker: trackerAddress(data, readSettings(data).tracker, options),
        sinceDay: options.since === undefined ? firstKeptDay(realEffects.now()) : dayOption(options.since, '--since'),
        dryRun: options.dryRun === true,
        isReporting: (name) => reporting.some(({ source }) => source === name),
        warn: (message) => context.terminal.logger.warn(message),
      });
      const shown = options.dryRun
        ? replayed.map(({ source, reason, reports }) => ({ source, reason, reports }))
        : replayed.map((group) => ({ ...group }));
      printAnswer(context, options, { replayed: shown }, textTable(shown));
    });
}
