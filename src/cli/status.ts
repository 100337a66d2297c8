import { existsSync } from 'node:fs';
import type { DataDirectory } from '../config/data-directory.ts';
import type { Settings } from '../config/settings.ts';
import { DeliveryList } from '../postbacks/store/delivery-list.ts';
import { DeliveryStore } from '../postbacks/store/delivery-store.ts';
import { currentManifest } from '../snapshot/current.ts';
import { readAnalytics } from '../snapshot/read-analytics.ts';
import { aheadOfClock, endOfPresent, leadBackAdvice } from '../time/ahead-of-clock.ts';
import { dateOf, momentOfMilliseconds, shiftMoment, type Moment } from '../time/moment.ts';
import { beginningsAfter, describeBeginnings, type Beginnings } from '../runs/beginnings.ts';
import { readHolder } from '../runs/lock.ts';
import { readRecentRuns, type RecentRun } from '../runs/recent-runs.ts';

export interface Status {
  /** The age is null where as-of lies ahead of the clock. */
  snapshot: {
    snapshot_id: string;
    as_of: Moment;
    age_seconds: number | null;
    row_counts: Record<string, number>;
  } | null;
  /** Who holds the warehouse. */
  running: { pid: number; command: string; since: string } | null;
  /** Up to now: an event that is stamped ahead tells nothing about how fresh its log is. */
  newest: { data: string; newest: Moment | null; age_seconds: number | null }[];
  files: { kind: string; status: string; files: number; rows: number; rejected: number }[];
  /** Of files ingested in the 24 hours before now. */
  rejects_of_last_day: { reason: string; rows: number }[];
  /** Catalog exports that wait for an operator. */
  held: { file_id: number; source: string; path: string; reason: string }[];
  /** What begins ahead of the clock, so that credits go by older prices than the feeds show. */
  ahead: Beginnings | null;
  /** By source, catalog exports that landed in the 24 hours before now and did not count, since a newer one had decided: how many, and the last of them. */
  set_aside: { source: string; files: number; path: string; reason: string }[];
  /** Daily reports that do not agree with what is known by now. */
  reports: { outdated: number; missing: number };
  /** Null where there has never been a postback. */
  postbacks: { pending: number; dead: number } | null;
  /** The newest run that failed or ended by force, and whether a run has put it right since; one that none has comes first. */
  last_failure: {
    run_id: number;
    pipeline: string;
    status: RecentRun['status'];
    at: Moment;
    error: string | null;
    recovered: boolean;
  } | null;
  /** What is older than configured; empty where all is well. */
  stale: string[];
  /** What else an operator has to see to, a sentence each; empty where all is well. */
  alarms: string[];
}

const microsecondsPerDay = 86_400_000_000n;

/** One glance, from the published snapshot and files beside the warehouse, so that it answers while a run works. `now` in milliseconds since the epoch. */
export async function readStatus(
  data: DataDirectory,
  settings: Pick<Settings, 'snapshot_max_age_minutes' | 'freshness'>,
  now: number,
): Promise<Status> {
  const manifest = await currentManifest(data);
  const ageOf = (moment: Moment) => Math.max(0, Math.round((now - dateOf(moment).getTime()) / 1000));
  const status: Status = {
    snapshot: null,
    running: readHolder(data) ?? null,
    newest: [],
    files: [],
    rejects_of_last_day: [],
    held: [],
    set_aside: [],
    ahead: null,
    reports: { outdated: 0, missing: 0 },
    postbacks: readPostbacks(data),
    last_failure: readLastFailure(data),
    stale: [],
    alarms: [],
  };
  if (manifest !== undefined) {
    const { snapshot_id, as_of, row_counts } = manifest;
    status.snapshot = {
      snapshot_id,
      as_of,
      age_seconds: aheadOfClock(as_of, now) > 0 ? null : ageOf(as_of),
      row_counts,
    };
    Object.assign(status, await readPublished(data, now));
    status.newest = status.newest.map((each) => ({
      ...each,
      age_seconds: each.newest === null ? null : ageOf(each.newest),
    }));
  }
  status.stale = staleness(status, settings);
  status.alarms = alarms(status);
  return status;
}

function readPublished(
  data: DataDirectory,
  now: number,
): Promise<Pick<Status, 'newest' | 'files' | 'rejects_of_last_day' | 'held' | 'set_aside' | 'ahead' | 'reports'>> {
  const until = `<= TIMESTAMPTZ '${momentOfMilliseconds(now)}'`;
  const dayAgo = shiftMoment(momentOfMilliseconds(now), -microsecondsPerDay);
  return readAnalytics(data.current, async (query) => {
    const [reports] = await query<Status['reports']>(
      `SELECT count(*) FILTER (state = 'outdated') AS outdated, count(*) FILTER (state = 'missing') AS missing FROM report_days`,
    );
    return {
      newest: await query<Status['newest'][number]>(
        `SELECT 'clicks' AS data, max(clicked_at) AS newest FROM clicks WHERE clicked_at ${until}
         UNION ALL SELECT 'conversions', max(occurred_at) FROM conversions WHERE occurred_at ${until}
         UNION ALL SELECT 'offers of ' || source, max(ingested_at) FILTER (ingested_at ${until}) FROM ingest_files WHERE kind = 'offers' AND status = 'loaded' GROUP BY source
         ORDER BY 1`,
      ),
      files: await query<Status['files'][number]>(
        'SELECT kind, status, count(*) AS files, sum(rows) AS rows, sum(rejected) AS rejected FROM ingest_files GROUP BY ALL ORDER BY ALL',
      ),
      rejects_of_last_day: await query<Status['rejects_of_last_day'][number]>(
        `SELECT rejects.reason, count(*) AS rows FROM rejects JOIN ingest_files USING (file_id) WHERE ingested_at > TIMESTAMPTZ '${dayAgo}'
         GROUP BY ALL ORDER BY rows DESC, reason LIMIT 10`,
      ),
      held: await query<Status['held'][number]>(
        `SELECT file_id, source, path, reason FROM ingest_files WHERE kind = 'offers' AND status = 'held' ORDER BY file_id`,
      ),
      ahead: (await beginningsAfter(endOfPresent(now), 'snapshot', query)) ?? null,
      set_aside: await query<Status['set_aside'][number]>(
        `SELECT source, count(*) AS files, arg_max(path, file_id) AS path, arg_max(reason, file_id) AS reason FROM ingest_files
         WHERE kind = 'offers' AND status = 'superseded' AND starts_with(reason, 'older_export') AND ingested_at > TIMESTAMPTZ '${dayAgo}'
         GROUP BY source ORDER BY source`,
      ),
      reports: reports ?? { outdated: 0, missing: 0 },
    };
  });
}

function readPostbacks(data: DataDirectory): Status['postbacks'] {
  if (!existsSync(data.deliveriesFile)) return null;
  const store = DeliveryStore.open(data);
  try {
    const list = new DeliveryList(store.database);
    return { pending: list.count({ state: 'pending' }), dead: list.count({ state: 'dead' }) };
  } finally {
    store.close();
  }
}

function readLastFailure(data: DataDirectory): Status['last_failure'] {
  const { runs } = readRecentRuns(data);
  const failures = runs.filter(isFailure).map(({ run_id, pipeline, status, finished_at, started_at, error }) => ({
    run_id,
    pipeline,
    status,
    at: finished_at ?? started_at,
    error,
    recovered: runs.some(
      (later) => later.run_id > run_id && later.status === 'done' && putsRight(later.pipeline, pipeline),
    ),
  }));
  return failures.find(({ recovered }) => !recovered) ?? failures[0] ?? null;
}

/** A run that was asked to end, and wrote down that it did, has not failed. */
function isFailure({ status, finished_at }: RecentRun): boolean {
  return status === 'failed' || (status === 'interrupted' && finished_at === null);
}

/** A refresh does what its stages do alone; nobody may ever run one of those again, nor the same backfill. */
function putsRight(pipeline: string, failed: string): boolean {
  return pipeline === failed || (pipeline === 'refresh' && failed !== 'maintenance');
}

function alarms({ snapshot, ahead, last_failure: failure }: Status): string[] {
  return [
    ...(snapshot?.age_seconds === null
      ? [
          `the snapshot is as of ${snapshot.as_of}, which lies ahead of this machine's clock, and no refresh is let in before: ${leadBackAdvice}`,
        ]
      : []),
    ...(ahead === null ? [] : [`${describeBeginnings(ahead)}; ${leadBackAdvice}`]),
    ...(failure === null || failure.recovered
      ? []
      : [`${describeFailure(failure)}, and no run has been good since; \`offerline runs --failed\` tells more`]),
  ];
}

/** Such as "run 3 (refresh) failed at …". */
export function describeFailure({ run_id, pipeline, status, at }: NonNullable<Status['last_failure']>): string {
  return `run ${run_id} (${pipeline}) ${status === 'failed' ? `failed at ${at}` : `ended by force; it began at ${at}`}`;
}

/** What exceeds the limits of offerline.json, in words. */
function staleness(
  { snapshot, newest }: Status,
  { snapshot_max_age_minutes, freshness }: Pick<Settings, 'snapshot_max_age_minutes' | 'freshness'>,
): string[] {
  const stale: string[] = [];
  const check = (what: string, ageSeconds: number | null, minutes: number | undefined, key: string) => {
    if (minutes === undefined || (ageSeconds !== null && ageSeconds <= minutes * 60)) return;
    stale.push(
      `${what} is ${ageSeconds === null ? 'missing' : `${Math.floor(ageSeconds / 60)} minutes old`}, ${key} allows ${minutes}`,
    );
  };
  // One from ahead of the clock is told as that.
  if (snapshot?.age_seconds !== null)
    check('the snapshot', snapshot?.age_seconds ?? null, snapshot_max_age_minutes, 'snapshot_max_age_minutes');
  const limits: [RegExp, number | undefined, string][] = [
    [/^clicks$/, freshness.clicks_minutes, 'freshness.clicks_minutes'],
    [/^conversions$/, freshness.conversions_minutes, 'freshness.conversions_minutes'],
    [/^offers of /, freshness.offers_minutes, 'freshness.offers_minutes'],
  ];
  for (const [data, minutes, key] of limits) {
    for (const each of newest.filter((candidate) => data.test(candidate.data)))
      check(`the newest of ${each.data}`, each.age_seconds, minutes, key);
  }
  return stale;
}
