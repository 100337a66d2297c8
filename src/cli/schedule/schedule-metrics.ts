import type { DataDirectory } from '../../kit/config/data-directory.ts';
import type { Settings } from '../../kit/config/settings.ts';
import { exitCode } from '../../kit/errors/errors.ts';
import { realEffects } from '../../kit/files/effects.ts';
import type { Logger } from '../../kit/logging/log.ts';
import { Metrics } from '../../kit/metrics/metrics.ts';
import type { ReportedRole } from '../../pipeline/runs/storage-role.ts';
import { measureMachine } from '../../pipeline/status/machine-metrics.ts';
import type { StartRun } from './schedule-lane.ts';

type RunEnd = Awaited<ReturnType<StartRun>>;

/** Metrics of a process that runs the schedule, or follows storage. */
export class ScheduleMetrics {
  readonly metrics = new Metrics();
  readonly #runs = this.metrics.counter(
    'offerline_runs_total',
    'Runs that this schedule started, by pipeline and outcome: `done`, `failed`, `usage`, `busy`, `audit`, `killed`.',
    ['pipeline', 'outcome'],
  );
  readonly #storageErrors = this.metrics.counter(
    'offerline_storage_errors_total',
    'Looks at storage and renewals of the lease that failed.',
  );

  constructor(data: DataDirectory, settings: Settings, logger: Logger) {
    measureMachine(this.metrics, { data, settings, logger, now: () => realEffects.now() });
  }

  /** Counts the runs that `start` starts. */
  counted(start: StartRun): StartRun {
    return async (run) => {
      const { pipeline } = run;
      try {
        const end = await start(run);
        if (end !== null) this.#runs.inc({ pipeline, outcome: outcomeOf(end) });
        return end;
      } catch (error) {
        this.#runs.inc({ pipeline, outcome: 'failed' });
        throw error;
      }
    };
  }

  /** Called with each look at storage. */
  watchRole({ error }: ReportedRole): void {
    if (typeof error === 'string') this.#storageErrors.inc();
  }
}

function outcomeOf(end: NonNullable<RunEnd>): string {
  if (typeof end === 'string') return 'killed';
  return Object.entries(exitCode).find(([, code]) => code === end)?.[0] ?? 'failed';
}
