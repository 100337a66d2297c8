import type { DuckDBConnection } from '@duckdb/node-api';
import { queryRows } from '../../../src/kit/duckdb/dialect/rows.ts';

/** Addresses of one page, each of which is asked for once. */
export interface ColdPage {
  /** As the page itself is registered: `/offers/:id`. */
  path: string;
  /** What it is called where one page is there in two forms. */
  name?: string;
  addresses: string[];
}

const perPage = 10;

/** Addresses of pages as people come to them: all over history, the busiest and the quietest, by many filters. */
export async function coldPages(connection: DuckDBConnection, snapshots: readonly string[]): Promise<ColdPage[]> {
  const ids = async (query: string) =>
    (await queryRows<{ id: string | number }>(connection, query)).map(({ id }) => encodeURIComponent(id));
  const some = (column: string, from: string) =>
    ids(`SELECT ${column} AS id FROM ${from} ORDER BY hash(${column}) LIMIT ${perPage}`);
  const hottest = await ids(`SELECT offer_id AS id FROM offer_stats_2d ORDER BY clicks DESC LIMIT ${perPage / 4}`);
  const offers = [...hottest, ...(await some('offer_id', 'offers'))].slice(0, perPage);
  const sites = await some('site_key', 'sites');
  const clicks = await some('click_id', 'conversions');
  const users = (await some('user_id', 'conversions WHERE user_id IS NOT NULL')).slice(0, 4);
  const others = await ids(
    `SELECT click_id AS id FROM clicks WHERE event_key % 1000003 = 7 ORDER BY event_key LIMIT ${perPage / 2}`,
  );
  const postbacks = await some('webhook_id', 'postbacks');
  const dead = await ids(
    `SELECT webhook_id AS id FROM postbacks WHERE state = 'dead' ORDER BY hash(webhook_id) LIMIT 4`,
  );
  const runs = await some('run_id', 'runs');
  const files = await ids(
    `SELECT file_id AS id FROM ingest_files ORDER BY rejected DESC, hash(file_id) LIMIT ${perPage}`,
  );
  const days = await ids(`SELECT DISTINCT day::VARCHAR AS id FROM site_daily ORDER BY hash(id) LIMIT ${perPage}`);
  const figures = await some('metric', 'metrics');
  const tables = await some('table_name', '(SELECT DISTINCT table_name FROM lineage)');
  const of = (before: string, each: readonly string[]) => each.map((id) => `${before}${id}`);
  const ranges = of('?from=', days).map((range) => range);
  const pages: ColdPage[] = [
    { path: '/', addresses: [] },
    {
      path: '/offers',
      addresses: [
        '/offers',
        '/offers?sort=earnings.down',
        '/offers?sort=title.up',
        '/offers?status=active&sort=epc.down',
        '/offers?from_row=4900',
        ...of('/offers?from_row=', ['100', '700', '2300']),
        ...of('/offers?search=', ['quest', 'a', 'survey', ...offers.slice(0, 5)]),
      ],
    },
    { path: '/offers/:id', addresses: of('/offers/', offers) },
    {
      path: '/offers/:id',
      name: '/offers/:id?by=site',
      addresses: offers.slice(0, 4).map((id) => `/offers/${id}?by=site`),
    },
    { path: '/offers/:id/explained', addresses: offers.map((id) => `/offers/${id}/explained`) },
    { path: '/sites', addresses: ['/sites', '/sites?sort=clicks.down', ...of('/sites', ranges)] },
    { path: '/sites/:key', addresses: of('/sites/', sites) },
    {
      path: '/sites/:key',
      name: '/sites/:key?by=offer',
      addresses: sites.slice(0, 4).map((key) => `/sites/${key}?by=offer`),
    },
    {
      path: '/clicks',
      addresses: ['/clicks', ...of('/clicks?user=', users), ...of('/clicks?site=', sites.slice(0, 4))],
    },
    { path: '/clicks/:id', addresses: of('/clicks/', [...clicks, ...others]) },
    {
      path: '/postbacks',
      addresses: [
        '/postbacks',
        ...of('/postbacks?state=', ['dead', 'pending', 'delivered']),
        ...of('/postbacks?site=', sites.slice(0, 6)),
        ...of('/postbacks?state=dead&site=', sites.slice(6, 12)),
      ],
    },
    { path: '/postbacks/:id', addresses: of('/postbacks/', [...dead, ...postbacks].slice(0, perPage)) },
    { path: '/runs', addresses: ['/runs', '/runs?status=failed', '/runs?from_row=400'] },
    { path: '/runs/:id', addresses: of('/runs/', runs) },
    {
      path: '/files',
      addresses: [
        '/files',
        ...of('/files?kind=', ['offers', 'clicks', 'conversions']),
        ...of('/files?run=', runs.slice(0, 6)),
      ],
    },
    { path: '/files/:id', addresses: of('/files/', files) },
    { path: '/rejects', addresses: [] },
    { path: '/days', addresses: ['/days', ...of('/days', ranges).slice(0, 6)] },
    { path: '/sources', addresses: [] },
    { path: '/machine', addresses: [] },
    { path: '/actions', addresses: [] },
    { path: '/snapshots', addresses: [] },
    {
      path: '/snapshots/:before/diff/:after',
      addresses: snapshots.length < 2 ? [] : [`/snapshots/${snapshots[0]}/diff/${snapshots[1]}`],
    },
    { path: '/design', addresses: [] },
    { path: '/figures', addresses: [] },
    { path: '/figures/:name', addresses: of('/figures/', figures) },
    { path: '/tables', addresses: [] },
    { path: '/tables/:name', addresses: of('/tables/', tables) },
    { path: '/sql', addresses: [] },
    { path: '/fields', addresses: [] },
    {
      path: '/search',
      addresses: of('/search?id=', [
        ...offers.slice(0, 4),
        ...clicks.slice(0, 4),
        ...postbacks.slice(0, 4),
        ...sites.slice(0, 2),
        'survey',
        'nothing-has-this-id',
        '99999999',
      ]),
    },
  ];
  return pages.map(({ addresses, ...page }) => ({
    ...page,
    addresses: addresses.length > 0 ? addresses : plain(page.path),
  }));
}

/** A page without parameters is asked for by addresses that differ all the same, so that none is kept already. */
function plain(path: string): string[] {
  if (path.includes(':')) return [];
  return Array.from({ length: perPage / 2 }, (_, number) => `${path}?visit=${number}`);
}

/** A page of each kind, then the next of each: so whatever slows the machine down meets all of them. */
export function inTurn(pages: readonly ColdPage[]): { path: string; name: string; address: string }[] {
  const most = Math.max(...pages.map(({ addresses }) => addresses.length));
  return Array.from({ length: most }, (_, turn) =>
    pages.flatMap(({ path, name = path, addresses }) =>
      addresses.slice(turn, turn + 1).map((address) => ({ path, name, address })),
    ),
  ).flat();
}
