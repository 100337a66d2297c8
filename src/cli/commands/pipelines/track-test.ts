import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Command } from 'commander';
import { programFile } from '../../../kit/files/package-files.ts';
import type { DataDirectory } from '../../../kit/config/data-directory.ts';
import { readSettings, type Settings } from '../../../kit/config/settings.ts';
import { exitCode, OfferlineError } from '../../../kit/errors/errors.ts';
import { realEffects } from '../../../kit/files/effects.ts';
import { readLockHolder } from '../../../kit/files/process-lock.ts';
import { visibleText } from '../../../kit/text/visible-text.ts';
import { addCommand, printAnswer, existingData, wholeNumber } from '../../answer.ts';
import type { CommandContext } from '../../context.ts';
import { stopSignal } from '../../stop-signal.ts';

interface TestOptions {
  site: string;
  user?: string;
  event?: string;
  deliver?: boolean;
  port?: number;
  host?: string;
  json?: boolean;
}

/** Adds `track test`, which takes over the address and `--json` of `track`. */
export function addTestCommand(track: Command, context: CommandContext): void {
  addCommand(
    track,
    'test',
    'Tries one offer from its link to the postback',
    'Its link is followed, a conversion is reported as its source does, and the rows, the figures and the postback are shown; then the conversion is rejected. Nothing is sent to the advertiser, and to a real publisher only with `--deliver`; see src/tracker/README.md#trying-an-offer.',
  )
    .argument('<offer_id>', 'public id of the offer', wholeNumber(1, 2 ** 31 - 1))
    .requiredOption('--site <site_key>', 'site whose link is followed')
    .option('--user <user_id>', 'user who clicks (default: a made-up one)')
    .option('--event <event_id>', 'milestone that is reported (default: the first)')
    .option('--deliver', 'send postbacks of the conversion and its reject to a site that has an address for them')
    .action(async (offerId: number, _own: TestOptions, command: Command) => {
      await test(offerId, command.optsWithGlobals(), context);
    });
}

async function test(offerId: number, options: TestOptions, context: CommandContext): Promise<void> {
  const { logger } = context.terminal;
  const data = existingData();
  const settings = readSettings(data);
  // Loaded here alone: no other command reads agents, and each would start later for it.
  const { openTracker } = await import('../../../demo/trial/tracker-access.ts');
  const { subjectOf } = await import('../../../demo/trial/trial-subject.ts');
  const { tryOffer } = await import('../../../demo/trial/trial.ts');
  const subject = await subjectOf(data, { offerId, siteKey: options.site, eventId: options.event });
  const stop = stopSignal(logger);
  const at = { host: options.host, port: options.port };
  const tracker = await openTracker({ data, settings, log: logger, at });
  try {
    const report = await tryOffer({
      data,
      settings,
      subject,
      tracker,
      userId: options.user ?? `test-${randomBytes(4).toString('hex')}`,
      deliver: options.deliver === true,
      schedule: scheduleOf(data, settings),
      refresh: () => refreshOf(data),
      report({ step, done, text }) {
        if (options.json !== true) context.print(`${done ? '✓' : '–'} ${step.padEnd(12)} ${visibleText(text)}\n`);
      },
      now: () => realEffects.now(),
      steady: () => performance.now(),
      stop,
    });
    if (options.json === true) printAnswer(context, options, report, '');
  } finally {
    await tracker.close();
  }
}

function scheduleOf({ scheduleLockFile }: DataDirectory, { schedule }: Settings) {
  if (readLockHolder(scheduleLockFile) === undefined) return 'none';
  return (schedule.refresh?.watch ?? false) === false ? 'by the clock' : 'watching';
}

/** Runs a refresh in a process of its own, as the schedule does; its log belongs to ours. */
async function refreshOf({ root }: DataDirectory): Promise<void> {
  const main = programFile('src/cli/main');
  const child = spawn(process.execPath, [...process.execArgv, main, 'run', 'refresh'], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, OFFERLINE_DATA: root },
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code === exitCode.done) return;
  if (code === exitCode.busy)
    throw new OfferlineError('The refresh found the warehouse busy for as long as it may wait: try again.', code);
  throw new OfferlineError(
    `The refresh ended ${code === null ? 'by a signal' : `with exit code ${code}`}: its lines above say why.`,
    code === exitCode.audit ? exitCode.audit : exitCode.failed,
  );
}
