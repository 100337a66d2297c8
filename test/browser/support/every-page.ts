import type { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { consolePages } from '../../../src/console/pages.ts';
import { readAnalytics } from '../../../src/pipeline/snapshot/read-analytics.ts';
import { snapshotNames } from '../../../src/pipeline/snapshot/snapshot-store.ts';

/** An id from the snapshot for each parameter of a page's path. */
async function idsOf(data: DataDirectory): Promise<Record<string, string>> {
  return readAnalytics(data.current, async (query) => {
    const [found] = await query<Record<string, string | number>>(
      `SELECT
         (SELECT offer_id FROM offer_stats_2d ORDER BY rank NULLS LAST, offer_id LIMIT 1) AS offers,
         (SELECT site_key FROM sites ORDER BY site_key LIMIT 1) AS sites,
         (SELECT click_id FROM conversions WHERE status = 'credited' ORDER BY conversion_id LIMIT 1) AS clicks,
         (SELECT webhook_id FROM postbacks ORDER BY webhook_id LIMIT 1) AS postbacks,
         (SELECT max(run_id) FROM runs) AS runs,
         (SELECT file_id FROM ingest_files ORDER BY rejected DESC, file_id LIMIT 1) AS files`,
    );
    const [before = '', after = before] = await snapshotNames(data);
    const ids = Object.fromEntries(Object.entries(found ?? {}).map(([page, id]) => [page, String(id)]));
    return { ...ids, figures: 'epc', tables: 'offer_stats_2d', before, after };
  });
}

/** An address of every page of the console, over data with two snapshots; `actions` are jobs of the test. */
export async function everyPage(data: DataDirectory, actions: readonly string[] = []): Promise<string[]> {
  const ids = await idsOf(data);
  return consolePages.flatMap(({ path }) => {
    const [, kind = ''] = path.split('/');
    if (kind === 'actions' && path.includes(':')) return actions.map((job) => `/actions/${job}`);
    // This page only redirects to another one of these.
    if (path === '/snapshots/diff') return [];
    const address = path.replaceAll(/:(\w+)/g, (_part, name: string) => {
      const id = ids[name] ?? ids[kind];
      if (id === undefined || id === 'null') throw new Error(`there is no id for ${path}`);
      return encodeURIComponent(id);
    });
    return [address];
  });
}
