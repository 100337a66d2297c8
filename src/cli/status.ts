import { existsSync } from 'node:fs';
import type { DataDirectory } from '../config/data-directory.ts';
import type { Settings } from '../config/settings.ts';
import { DeliveryList } from '../postbacks/delivery-list.ts';
import { DeliveryStore } from '../postbacks/delivery-store.ts';
import { currentManifest } from '../snapshot/current.ts';
import { readAnalytics } from '../snapshot/read-analytics.ts';
import { dateOf, momentOfMilliseconds, shiftMoment, type Moment } from '../stage/as-of.ts';
import { readHolder } from '../warehouse/lock.ts';
import { readRecentRuns } from '../warehouse/recent-runs.ts';

export interface Status {
  snapshot: { snapshot_id: string; as_of: Moment; age_seconds: number; row_counts: Record<string, number> } | null;
  /** Who holds the warehouse. */
  running: { pid: number; command: string; since: string } | null;
  newest: { data: string; newest: Moment | null; age_seconds: number | null }[];
  files: { kind: string; status: string; files: number; rows: number; rejected: number }[];
  /** Of files taken up in the 24 hours before now. */
  rejects_of_last_day: { reason: string; rows: number }[];
  /** Catalog exports that wait for an operator. */
  held: { file_id: number; source: string; path: string; reason: string }[];
  /** Daily reports that do not agree with what is known by now. */
  reports: { outdated: number; missing: number };
  /** Null where there has never been a postback. */
  postbacks: { pending: number; dead: number } | null;
  /** The newest run that failed, and whether its pipeline has come to a good end since. */
  last_failure: { run_id: number; pipeline: string; at: Moment; error: string | null; recovered: boolean } | null;
  /** What is older than configured; empty where all is well. */
  stale: string[];
}

const microsecondsPerDay = 86_400_000_000n;

/** One glance, from the published snapshot and files beside the warehouse, so that it answers while a run works. `now` in milliseconds since the epoch. */
export async function readStatus(data: DataDirectory, settings: Pick<Settings, 'snapshot_max_age_minutes' | 'freshness'>, now: number): Promise<Status> {
  const manifest = await currentManifest(data);
  const ageOf = (moment: Moment) => Math.round((now - dateOf(moment).getTime()) / 1000);
  const status: Status = {
    snapshot: null, running: readHolder(data) ?? null, newest: [], files: [], rejects_of_last_day: [], held: [], reports: { outdated: 0, missing: 0 },
    postbacks: readPostbacks(data), last_failure: readLastFailure(data), stale: [],
  };
  if (manifest !== undefined) {
    const { snapshot_id, as_of, row_counts } = manifest;
    status.snapshot = { snapshot_id, as_of, age_seconds: ageOf(as_of), row_counts };
    Object.assign(status, await readPublished(data, now));
    status.newest = status.newest.map((each) => ({ ...each, age_seconds: each.newest === null ? null : ageOf(each.newest) }));
  }
  status.stale = staleness(status, settings);
  return status;
}

function readPublished(data: DataDirectory, now: number): Promise<Pick<Status, 'newest' | 'files' | 'rejects_of_last_day' | 'held' | 'reports'>> {
  const dayAgo = shiftMoment(momentOfMilliseconds(now), -microsecondsPerDay);
  return readAnalytics(data.current, async (query) => {
    const [reports] = await query<Status['reports']>(`SELECT count(*) FILTER (state = 'outdated') AS outdated, count(*) FILTER (state = 'missing') AS missing FROM report_days`);
    return {
      newest: await query<Status['newest'][number]>(
        `SELECT 'clicks' AS data, max(clicked_at) AS newest FROM clicks
         UNION ALL SELECT 'conversions', max(occurred_at) FROM conversions
         UNION ALL SELECT 'offers of ' || source, max(ingested_at) FROM ingest_files WHERE kind = 'offers' AND status = 'loaded' GROUP BY source
         ORDER BY 1`,
      ),
      files: await query<Status['files'][number]>(
        'SELECT kind, status, count(*) AS files, sum(rows) AS rows, sum(rejected) AS rejected FROM ingest_files GROUP BY ALL ORDER BY ALL',
      ),
      rejects_of_last_day: await query<Status['rejects_of_last_day'][number]>(
        `SELECT rejects.reason, count(*) AS rows FROM rejects JOIN ingest_files USING (file_id) WHERE ingested_at > TIMESTAMPTZ '${dayAgo}'
         GROUP BY ALL ORDER BY rows DESC, reason LIMIT 10`,
      ),
      held: await query<Status['held'][number]>(`SELECT file_id, source, path, reason FROM ingest_files WHERE kind = 'offers' AND status = 'held' ORDER BY file_id`),
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
  const failed = runs.find(({ status }) => status === 'failed');
  if (failed === undefined) return null;
  const { run_id, pipeline, finished_at, started_at, error } = failed;
  const recovered = runs.some((run) => run.run_id > run_id && run.pipeline === pipeline && run.status === 'done');
  return { run_id, pipeline, at: finished_at ?? started_at, error, recovered };
}

/** What exceeds the limits of offerline.json, in words. */
function staleness({ snapshot, newest }: Status, { snapshot_max_age_minutes, freshness }: Pick<Settings, 'snapshot_max_age_minutes' | 'freshness'>): string[] {
  const stale: string[] = [];
  const check = (what: string, ageSeconds: number | null, minutes: number | undefined, key: string) => {
    if (minutes === undefined || (ageSeconds !== null && ageSeconds <= minutes * 60)) return;
    stale.push(`${what} is ${ageSeconds === null ? 'missing' : `${Math.floor(ageSeconds / 60)} minutes old`}, ${key} allows ${minutes}`);
  };
  check('the snapshot', snapshot?.age_seconds ?? null, snapshot_max_age_minutes, 'snapshot_max_age_minutes');
  const limits: [RegExp, number | undefined, string][] = [
    [/^clicks$/, freshness.clicks_minutes, 'freshness.clicks_minutes'],
    [/^conversions$/, freshness.conversions_minutes, 'freshness.conversions_minutes'],
    [/^offers of /, freshness.offers_minutes, 'freshness.offers_minutes'],
  ];
  for (const [data, minutes, key] of limits) {
    for (const each of newest.filter((candidate) => data.test(candidate.data))) check(`the newest of ${each.data}`, each.age_seconds, minutes, key);
  }
  return stale;
}
