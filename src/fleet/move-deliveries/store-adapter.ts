import { createHash } from 'node:crypto';
import type { DeliveryContents } from '../../postbacks/postgres-deliveries.ts';

export type Cell = string | number | null;

/** Tables that move, as both stores have them. All else that they hold follows from these. */
export const tables = {
  postbacks: {
    sequence: 'bigint',
    webhook_id: 'text',
    conversion_id: 'text',
    kind: 'text',
    click_id: 'text',
    site_key: 'text',
    user_id: 'text',
    offer_id: 'bigint',
    reward: 'text',
    occurred_at: 'text',
    enqueued_at: 'text',
    further: 'text',
    sort_key: 'text',
    state: 'text',
    attempts: 'int',
    plan_attempts: 'int',
    last_attempt_at: 'bigint',
    last_status: 'int',
    last_error: 'text',
    delivered_at: 'bigint',
    next_attempt_at: 'bigint',
    change: 'bigint',
  },
  attempts: {
    change: 'bigint',
    sequence: 'bigint',
    attempt: 'int',
    started_at: 'bigint',
    duration_ms: 'int',
    status: 'int',
    error: 'text',
    host: 'text',
  },
  outbox_offsets: { warehouse_id: 'text', up_to: 'bigint' },
  circuit_breakers: { site_key: 'text', openings: 'int', paused_until: 'bigint' },
} as const;
export type Table = keyof typeof tables;
/** Tables whose rows have numbers of changes. */
export type GrowingTable = 'postbacks' | 'attempts';

export const columnsOf = (table: Table): string[] => Object.keys(tables[table]);

/**
 * The heads of clicks, by the order of `store/click-order.ts` where nothing is being sent; SQLite and PostgreSQL
 * understand it alike.
 */
export const writeHeads = `
  UPDATE postbacks SET is_next = (sequence IN (
    SELECT sequence FROM (
      SELECT sequence, row_number() OVER (PARTITION BY click_id ORDER BY sort_key, conversion_id, sequence) AS place
      FROM postbacks WHERE state = 'pending'
    ) AS waiting WHERE place = 1
  )) WHERE state = 'pending'`;

/** Access to a store that deliveries are moved from or to. Nothing is sent from it meanwhile. */
export interface StoreAdapter {
  readonly storeId: string;
  /** Names the store in messages. */
  readonly where: string;
  /** Returns the greatest number given to a change. */
  lastChange(): Promise<number>;
  /** Returns rows with changes after that one, in the order of their changes: the cells of `tables`. */
  rowsAfter(table: GrowingTable, change: number, limit: number): Promise<Cell[][]>;
  /** Returns the whole of a small table. */
  rows(table: 'outbox_offsets' | 'circuit_breakers'): Promise<Cell[][]>;
  /** Returns numbers of postbacks that may be sent next, in their order, after that one. */
  headsAfter(sequence: number, limit: number): Promise<number[]>;
}

/** The store that is filled. */
export interface TargetAdapter extends StoreAdapter {
  /** Returns the greatest change that a row has here; 0 where there is none. */
  copiedUpTo(table: GrowingTable): Promise<number>;
  /** Writes all rows or none; a row that is here under the same number is written again. */
  write(table: GrowingTable, rows: Cell[][]): Promise<void>;
  /** Completes the copy once all rows are here, without attempts that the other store no longer has. */
  complete(rest: {
    changes: number;
    offsets: Cell[][];
    circuits: Cell[][];
    oldestAttempt: number | null;
  }): Promise<void>;
}

const pageRows = 5000;

export async function contentsOf(adapter: StoreAdapter): Promise<DeliveryContents> {
  const hash = createHash('sha256');
  const add = (row: unknown) => hash.update(`${JSON.stringify(row)}\n`);
  const counts = { postbacks: 0, attempts: 0 };
  for (const table of ['postbacks', 'attempts'] as const) {
    for await (const rows of changedRows(adapter, table, 0)) {
      counts[table] += rows.length;
      rows.forEach(add);
    }
  }
  for (let heads = [0]; heads.length > 0;) {
    heads = await adapter.headsAfter(heads.at(-1) as number, pageRows);
    heads.forEach(add);
  }
  for (const table of ['outbox_offsets', 'circuit_breakers'] as const)
    (await adapter.rows(table))
      .map((row) => JSON.stringify(row))
      .toSorted()
      .forEach(add);
  add(await adapter.lastChange());
  return { ...counts, digest: hash.digest('hex') };
}

/** Yields rows that changed after that change, page by page. */
export async function* changedRows(
  adapter: StoreAdapter,
  table: GrowingTable,
  change: number,
): AsyncGenerator<Cell[][]> {
  const at = columnsOf(table).indexOf('change');
  for (let after = change; ;) {
    const rows = await adapter.rowsAfter(table, after, pageRows);
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last[at] as number;
    yield rows;
  }
}
