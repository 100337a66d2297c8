import type { Command } from 'commander';
import type { DataDirectory } from '../../config/data-directory.ts';
import { currentManifest } from '../../snapshot/current.ts';
import { readAnalytics } from '../../snapshot/read-analytics.ts';
import { dateOf } from '../../stage/as-of.ts';
import { readHolder } from '../../warehouse/lock.ts';
import { addCommand, answer, existingData, table } from '../answer.ts';
import type { CommandContext } from '../context.ts';

export function addStatusCommand(program: Command, context: CommandContext): void {
  addCommand(program, 'status', 'one glance: snapshot, newest data, files and rejects').action(async (options: { json?: boolean }) => {
    const status = await readStatus(existingData(), Date.now());
    answer(context, options, status, describe(status));
  });
}

interface Status {
  snapshot: { snapshot_id: string; as_of: string; age_seconds: number; row_counts: Record<string, number> } | null;
  running: { pid: number; command: string; since: string } | null;
  newest: { data: string; newest: string | null }[];
  files: { kind: string; status: string; files: number; rows: number; rejected: number }[];
  rejects: { reason: string; rows: number }[];
}

/** From the published snapshot, so that it answers while a run holds the warehouse. `now` in milliseconds since the epoch. */
async function readStatus(data: DataDirectory, now: number): Promise<Status> {
  const manifest = await currentManifest(data);
  const running = readHolder(data) ?? null;
  if (manifest === undefined) return { snapshot: null, running, newest: [], files: [], rejects: [] };
  const { snapshot_id, as_of, row_counts } = manifest;
  const age_seconds = Math.round((now - dateOf(as_of).getTime()) / 1000);
  return readAnalytics(data.current, async (query) => ({
    snapshot: { snapshot_id, as_of, age_seconds, row_counts },
    running,
    newest: await query<Status['newest'][number]>(
      `SELECT 'clicks' AS data, max(clicked_at) AS newest FROM clicks
       UNION ALL SELECT 'conversions', max(occurred_at) FROM conversions
       UNION ALL SELECT 'offers of ' || source, max(ingested_at) FROM ingest_files WHERE kind = 'offers' AND status = 'loaded' GROUP BY source
       ORDER BY 1`,
    ),
    files: await query<Status['files'][number]>(
      'SELECT kind, status, count(*) AS files, sum(rows) AS rows, sum(rejected) AS rejected FROM ingest_files GROUP BY ALL ORDER BY ALL',
    ),
    rejects: await query<Status['rejects'][number]>('SELECT reason, count(*) AS rows FROM rejects GROUP BY ALL ORDER BY rows DESC, reason LIMIT 10'),
  }));
}

function describe({ snapshot, running, newest, files, rejects }: Status): string {
  if (snapshot === null) return 'No snapshot was published yet; `offerline run refresh` makes one.';
  const counts = Object.entries(snapshot.row_counts).map(([name, rows]) => `${name} ${rows}`).join(', ');
  return [
    `snapshot ${snapshot.snapshot_id}, as of ${snapshot.as_of}, ${snapshot.age_seconds} s ago`,
    `  ${counts}`,
    running === null ? 'no run holds the warehouse' : `${running.command} runs since ${running.since} (process ${running.pid})`,
    '', table(newest), '', table(files), '', 'rejected rows by reason', table(rejects),
  ].join('\n');
}
