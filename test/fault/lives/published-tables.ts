import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { readAnalytics } from '../../../src/pipeline/snapshot/read-analytics.ts';
import type { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { identifier, quotedList } from '../../../src/kit/text/sql-text.ts';

/** About runs, of which a killed one makes one more, and about tries at delivering, whose times are the machine's. */
const aboutRuns = {
  tables: ['runs', 'run_stages', 'postback_attempts'],
  columns: [
    'run_id',
    'snapshot_id',
    'state',
    'attempts',
    'last_attempt_at',
    'last_status',
    'last_error',
    'delivered_at',
    'next_attempt_at',
  ],
};

export interface PublishedParts {
  /** Columns to leave out beside those about runs; `table.column` for those of one table. */
  except?: readonly string[];
}

/** Every published table and view as its rows in no order, without what tells runs apart. */
export async function publishedTables(
  data: DataDirectory,
  { except = [] }: PublishedParts = {},
): Promise<Map<string, string[]>> {
  const leftOf = (table: string) =>
    [...aboutRuns.columns, ...except.map((column) => column.replace(`${table}.`, ''))]
      .map((column) => `'${column}'`)
      .join(', ');
  return readAnalytics(data.current, async (query) => {
    const tables = await query<{ name: string }>(
      `SELECT table_name AS name FROM information_schema.tables WHERE table_name NOT IN (SELECT unnest(${quotedList(aboutRuns.tables)})) ORDER BY name`,
    );
    const contents = new Map<string, string[]>();
    for (const { name } of tables) {
      const rows = await query<{ row: string }>(
        `SELECT to_json(t)::VARCHAR AS row FROM (SELECT COLUMNS(c -> c NOT IN (${leftOf(name)})) FROM ${identifier(name)}) AS t ORDER BY row`,
      );
      contents.set(
        name,
        rows.map(({ row }) => row),
      );
    }
    return contents;
  });
}

/** What delivery was given to tell publishers, without how far it has come. */
export function handedOver(data: DataDirectory): Map<string, string[]> {
  if (!existsSync(data.deliveriesFile)) return new Map([['deliveries', []]]);
  const store = new DatabaseSync(data.deliveriesFile, { readOnly: true });
  try {
    const rows = store
      .prepare(
        'SELECT webhook_id, conversion_id, kind, click_id, site_key, user_id, offer_id, reward, occurred_at, enqueued_at FROM postbacks ORDER BY webhook_id',
      )
      .all();
    return new Map([['deliveries', rows.map((row) => JSON.stringify(row))]]);
  } finally {
    store.close();
  }
}

/** Both of them by table: all that a life comes to. */
export async function publishedAndHandedOver(data: DataDirectory): Promise<Map<string, string[]>> {
  return new Map([...(await publishedTables(data)), ...handedOver(data)]);
}

/** Where two published states differ, a line each; empty where they say the same. */
export function differences(expected: Map<string, string[]>, found: Map<string, string[]>): string[] {
  return [...new Set([...expected.keys(), ...found.keys()])].flatMap((table) => {
    const [left, right] = [expected.get(table) ?? [], found.get(table) ?? []];
    const missing = left.filter((row) => !right.includes(row));
    const added = right.filter((row) => !left.includes(row));
    if (left.length === right.length && missing.length === 0 && added.length === 0) return [];
    return [
      `${table}: ${left.length} rows expected, ${right.length} found; first missing ${missing[0] ?? '-'}; first added ${added[0] ?? '-'}`,
    ];
  });
}
