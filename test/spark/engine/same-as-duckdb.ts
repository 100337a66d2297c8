import type { EventKind } from '../../../src/kit/vocabulary/values.ts';
import { eventColumns } from '../../../src/pipeline/warehouse/event-files.ts';
import type { LogLanding } from '../../support/log-landing.ts';

const compared = {
  ingest_files: '*',
  rejects: '*',
  ingest_warnings: '*',
  click_hourly: '*',
  conversion_events: '* EXCLUDE (known_at)',
  conversion_clicks: '* EXCLUDE (known_at)',
  waiting_clicks: '*',
};

/** Everything that an ingest of logs leaves behind but names of files and times of the machine, by table. */
export async function ingested(landing: LogLanding): Promise<Map<string, string[]>> {
  const content = new Map<string, string[]>();
  const rows = (from: string) =>
    landing.query<{ row: string }>(`SELECT to_json(t)::VARCHAR AS row FROM (${from}) AS t ORDER BY row`);
  for (const [table, columns] of Object.entries(compared))
    content.set(
      table,
      (await rows(`SELECT ${columns} FROM ${table}`)).map(({ row }) => row),
    );
  for (const kind of ['clicks', 'conversions'] satisfies EventKind[]) {
    const columns = Object.keys(eventColumns[kind]).map((name) => `${name}::VARCHAR`);
    const events = await landing.events<{ row: string }>(kind, `[${columns.join(', ')}]::VARCHAR AS row`);
    content.set(
      kind,
      events.map(({ row }) => row),
    );
  }
  const days = await rows('SELECT kind, day, sum(rows) AS rows FROM event_files GROUP BY ALL');
  content.set(
    'days',
    days.map(({ row }) => row),
  );
  return content;
}
