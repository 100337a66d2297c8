import type { DataDirectory } from '../../kit/config/data-directory.ts';
import type { Settings } from '../../kit/config/settings.ts';
import type { Logger } from '../../kit/logging/log.ts';
import type { LabelledValue, Metrics } from '../../kit/metrics/metrics.ts';
import { hasStore, openStore } from '../../postbacks/open-store.ts';
import type { Backlog } from '../../postbacks/store/delivery-rows.ts';
import { readSchedule, type ScheduleReport } from '../doctor/examine-schedule.ts';
import { readPipelineReports, type PipelineReport } from './pipelines-status.ts';
import { readStatus } from './status.ts';

export interface MeasuredMachine {
  data: DataDirectory;
  settings: Settings;
  logger: Logger;
  /** Milliseconds since the epoch. */
  now: () => number;
}

/** Milliseconds for which a figure that is dear to find is shown again, and that a request waits for it. */
const backlogLasts = 15_000;
const statusLasts = 60_000;
const patience = 4_000;

const roles = ['writes', 'stands_by', 'follows', 'neither'] as const satisfies ScheduleReport['role'][];

/**
 * Adds what `offerline status` knows of this machine, for a process that runs pipelines or follows storage. Read from
 * notes, locks and the store of deliveries when metrics are asked for.
 */
export function measureMachine(metrics: Metrics, { data, settings, logger, now }: MeasuredMachine): void {
  const schedule = () => readSchedule(data, settings);
  metrics.gauges('offerline_role', 'What this machine does with the warehouse; 1 for its role.', ['role'], () => {
    const { role } = schedule();
    return roles.map((each) => ({ labels: { role: each }, value: Number(each === role) }));
  });
  const gauge = (...[name, help, read]: Parameters<Metrics['gauge']>) => metrics.gauge(name, help, read);
  gauge(
    'offerline_lease_age_seconds',
    'Time since the lease by which one schedule writes to storage was renewed; on standby, since the renewal was seen.',
    () => schedule().lease_age_seconds ?? undefined,
  );
  gauge('offerline_storage_failing', 'Whether storage cannot be used at present; only with storage.', () => {
    const { storage, error } = schedule();
    return storage === null ? undefined : Number(error !== null);
  });
  gauge(
    'offerline_storage_clock_offset_seconds',
    'By how much the clock of this machine is ahead of that of storage, negative where behind; 5 s more or less.',
    () => schedule().clock_offset_seconds ?? undefined,
  );

  // What a standby did before another took over is history.
  const reports = () => (schedule().role === 'stands_by' ? [] : readPipelineReports(data, now()));
  const byPipeline = (read: (report: PipelineReport) => number) => (): LabelledValue<'pipeline'>[] =>
    reports().map((report) => ({ labels: { pipeline: report.pipeline }, value: read(report) }));
  metrics.gauges(
    'offerline_pipeline_failing',
    'Whether the last run of each pipeline failed, could not begin or was killed; none on standby.',
    ['pipeline'],
    byPipeline(({ outcome }) => Number(outcome === 'failed')),
  );
  metrics.gauges(
    'offerline_pipeline_last_good_age_seconds',
    'Time since the end of the last good run of each pipeline, infinite without one; none on standby.',
    ['pipeline'],
    byPipeline(({ last_good_age_seconds: age }) => age ?? Infinity),
  );

  const backlog = sampled(() => readBacklog(data, settings), backlogLasts, now, logger);
  gauge(
    'offerline_postbacks_backlog',
    'Postbacks in the store that are neither delivered nor given up; none while it cannot be read.',
    async () => (await backlog())?.postbacks,
  );
  gauge(
    'offerline_postbacks_backlog_oldest_seconds',
    'Time since the earliest event among them; 0 where there is none.',
    async () => {
      const found = await backlog();
      return found && (found.oldestOccurredAt === null ? 0 : Math.max(0, (now() - found.oldestOccurredAt) / 1000));
    },
  );

  const status = sampled(() => readStatus(data, settings, now()), statusLasts, now, logger);
  gauge('offerline_status_alarms', 'Reasons for `offerline status` to exit 1, at most a minute old.', async () => {
    const found = await status();
    return found && found.alarms.length + found.stale.length;
  });
  gauge(
    'offerline_landing_missing',
    'Whether the landing folder is gone or lacks nearly all files that it should have, at most a minute old.',
    async () => {
      const found = await status();
      return found && Number(found.landing.trouble !== null);
    },
  );
}

async function readBacklog(data: DataDirectory, settings: Settings): Promise<Backlog | undefined> {
  if (!hasStore(data, settings)) return undefined;
  const store = await openStore(data, settings);
  try {
    return await store.backlog();
  } finally {
    await store.close();
  }
}

/**
 * Returns a reader of a value that is read anew after `lasts` milliseconds. One that cannot be read is undefined; one
 * that takes longer than a request may wait is what it was before.
 */
export function sampled<Value>(
  read: () => Promise<Value | undefined>,
  lasts: number,
  now: () => number,
  logger: Logger,
): () => Promise<Value | undefined> {
  let last: Value | undefined;
  let readAt = -Infinity;
  let reading: Promise<void> | undefined;
  const readAnew = async () => {
    try {
      last = await read();
    } catch (error) {
      last = undefined;
      logger.warn({ err: error }, 'a figure of /metrics could not be read; it is left out until it can be');
    }
    readAt = now();
  };
  return async () => {
    const isOver = Math.abs(now() - readAt) >= lasts;
    if (isOver) reading ??= readAnew().finally(() => (reading = undefined));
    if (reading !== undefined) await Promise.race([reading, wait(patience)]);
    return last;
  };
}

function wait(milliseconds: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, milliseconds).unref());
}
