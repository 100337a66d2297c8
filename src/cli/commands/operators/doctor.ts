import type { Command } from 'commander';
import { refresh } from '../../../../pipelines/refresh.ts';
import { readSettings } from '../../../kit/config/settings.ts';
import { realEffects } from '../../../kit/files/effects.ts';
import { exitCode } from '../../../kit/errors/errors.ts';
import { isDiskUnwritable } from '../../../kit/errors/machine-failure.ts';
import { examine, examineUnwritable, type Diagnosis } from '../../../pipeline/doctor/doctor.ts';
import { rebuild } from '../../../pipeline/doctor/rebuild.ts';
import type { Finding } from '../../../pipeline/doctor/finding.ts';
import { runOnStorage } from '../../../pipeline/runs/run-on-storage.ts';
import { withWriterLock } from '../../../pipeline/runs/writer-lock.ts';
import type { Opening } from '../../../pipeline/recovery/recover-state.ts';
import { visibleText } from '../../../kit/text/visible-text.ts';
import { addCommand, printAnswer, existingData } from '../../answer.ts';
import type { CommandContext } from '../../context.ts';

interface DoctorOptions {
  deep?: boolean;
  repair?: boolean;
  json?: boolean;
}

interface RebuildOptions {
  fromLanding?: boolean;
  withoutMissing?: boolean;
  json?: boolean;
}

export function addDoctorCommands(program: Command, context: CommandContext): void {
  addCommand(
    program,
    'doctor',
    'Examines everything on the disk and says what to do',
    'State, ledger, events, roll-ups, snapshots, copies, deliveries, `sites.json` and `sources.json`, the disk, and what is ahead of the clock. Exits 1 where something is left wrong.',
  )
    .option('--deep', 'read every byte of events, marts, snapshots, copies, pictures and landing files')
    .option('--repair', 'repair what can be repaired, and publish again')
    .action(async (options: DoctorOptions) => {
      const { findings, repaired } = await diagnose(options, context);
      const allowOlder = repaired.some(({ check }) => check === 'clock');
      const refreshed =
        repaired.length > 0 ? await refresh({ data: existingData(), terminal: context.terminal, allowOlder }) : null;
      const left = findings.filter((finding) => finding.level === 'trouble' && !repaired.includes(finding));
      printAnswer(
        context,
        options,
        { findings, repaired: repaired.length, left: left.length, snapshot_id: refreshed?.snapshotId ?? null },
        describe(findings, repaired, options.deep === true ? '--deep --repair' : '--repair'),
      );
      if (left.length > 0) process.exitCode = exitCode.failed;
    });
  addCommand(
    program,
    'rebuild',
    'Moves the state aside, restores it from the newest good copy and the published snapshot, and refreshes',
  )
    .option('--from-landing', 'keep the catalog and read every log from the landing folder again')
    .option('--without-missing', 'with --from-landing: go on although logs that counted are no longer there')
    .action(async (options: RebuildOptions) => {
      await asOnlyWriter('rebuild', context, true, (opening) =>
        rebuild(opening, {
          fromLanding: options.fromLanding === true,
          withoutMissing: options.withoutMissing === true,
        }),
      );
      const { snapshotId, ingested } = await refresh({ data: existingData(), terminal: context.terminal });
      printAnswer(
        context,
        options,
        { snapshotId, ingested },
        [
          `rebuilt; ${ingested.files} files with ${ingested.rows} rows were ingested again`,
          snapshotId === null ? 'nothing was published: the current snapshot says the same' : `published ${snapshotId}`,
          ...(options.fromLanding ? ['`offerline backfill reports` writes the reports of earlier days again'] : []),
        ].join('\n'),
      );
    });
}

/** On a disk that cannot be written there is no lock, and no run that it would keep away. */
async function diagnose({ deep = false, repair = false }: DoctorOptions, context: CommandContext): Promise<Diagnosis> {
  const { logger, progress } = context.terminal;
  try {
    return await asOnlyWriter('doctor', context, repair, (opening) => examine(opening, { deep, repair, progress }));
  } catch (error) {
    if (repair || !isDiskUnwritable(error)) throw error;
    const data = existingData();
    return examineUnwritable(
      { data, settings: readSettings(data), logger, effects: realEffects },
      deep,
      error as Error,
    );
  }
}

/**
 * Runs `work` under the writer lock. Where it `changes` the state, storage's state is brought here first, as in a run:
 * else the next run would undo the change.
 */
async function asOnlyWriter<T>(
  command: string,
  { terminal: { logger } }: CommandContext,
  changes: boolean,
  work: (opening: Opening) => Promise<T>,
): Promise<T> {
  const data = existingData();
  const settings = readSettings(data);
  return withWriterLock(command, { data, settings, logger, effects: realEffects }, async (opening) => {
    const storage = changes ? await runOnStorage(settings, opening) : undefined;
    storage?.[Symbol.dispose]();
    return work(opening);
  });
}

/** `repair`: options of the command that sees these findings and repairs them. */
function describe(findings: readonly Finding[], repaired: readonly Finding[], repair: string): string {
  if (findings.length === 0) return 'all is well';
  return findings
    .map((finding) => {
      const mark = finding.level === 'note' ? 'note   ' : repaired.includes(finding) ? 'repaired' : 'TROUBLE';
      const what = visibleText(`${finding.check}: ${finding.subject} ${finding.problem}`);
      const isLeft = finding.repairable && !repaired.includes(finding);
      return `${mark}  ${what}\n         ${isLeft ? `by \`offerline doctor ${repair}\`: ` : ''}${visibleText(finding.advice)}`;
    })
    .join('\n');
}
