import { refreshHeads } from '../postgres-deliveries/click-heads.ts';
import { keepPassesOut } from '../postgres-deliveries/postgres-pass.ts';
import type { PostgresStore } from '../postgres-deliveries/postgres-store.ts';
import { storedText, textOf } from '../postgres-deliveries/rows.ts';
import type { PostgresSession } from '../postgres-deliveries/session.ts';
import {
  columnsOf,
  tables,
  writeHeads,
  type Cell,
  type GrowingTable,
  type Table,
  type TargetAdapter,
} from './store-adapter.ts';

/** Deliveries in PostgreSQL. */
export class PostgresAdapter implements TargetAdapter {
  storeId: string;
  readonly #session: PostgresSession;

  private constructor({ session, storeId }: PostgresStore) {
    this.#session = session;
    this.storeId = storeId;
  }

  /** Lets no worker begin a pass. Throws `DeliveryBusyError` while one goes on. */
  static async take(store: PostgresStore): Promise<PostgresAdapter> {
    await keepPassesOut(store);
    return new PostgresAdapter(store);
  }

  /** For reading alone; passes may go on. */
  static look(store: PostgresStore): PostgresAdapter {
    return new PostgresAdapter(store);
  }

  get where(): string {
    return `PostgreSQL at ${this.#session.where}`;
  }

  /** Empty, and filled for that store from now on. */
  async begin(storeId: string): Promise<void> {
    await this.#session.transaction(async () => {
      await this.#session.run('TRUNCATE postbacks, attempts, outbox_offsets, circuit_breakers');
      await this.#session.query(`UPDATE store SET store_id = $1, changes = 0, standing = 'filling'`, [storeId]);
    });
    this.storeId = storeId;
  }

  /** Postbacks that killed workers had claimed wait again. */
  async freeClaimed(): Promise<void> {
    await this.#session.write(async () => {
      const freed = await this.#session.query(
        `UPDATE postbacks SET state = 'pending' WHERE state = 'delivering' RETURNING click_id`,
      );
      await refreshHeads(
        this.#session,
        freed.map(({ click_id }) => click_id as string),
      );
    });
  }

  async putInUse(): Promise<void> {
    await this.#session.run(`UPDATE store SET standing = 'in use'`);
  }

  /** Marks the store as moved away unless something has changed after that change; later writers are refused. */
  async moveAway(lastChange: number): Promise<boolean> {
    const marked = await this.#session.change(`UPDATE store SET standing = 'moved away' WHERE changes = $1`, [
      lastChange,
    ]);
    return marked > 0;
  }

  async lastChange(): Promise<number> {
    const [row] = await this.#session.query('SELECT changes FROM store');
    return Number(row?.['changes']);
  }

  async rowsAfter(table: GrowingTable, change: number, limit: number): Promise<Cell[][]> {
    return this.#cells(table, 'WHERE change > $1 ORDER BY change LIMIT $2', [change, limit]);
  }

  async rows(table: Table): Promise<Cell[][]> {
    return this.#cells(table, '', []);
  }

  async headsAfter(sequence: number, limit: number): Promise<number[]> {
    const rows = await this.#session.query(
      `SELECT sequence FROM postbacks WHERE state = 'pending' AND is_next AND sequence > $1 ORDER BY sequence LIMIT $2`,
      [sequence, limit],
    );
    return rows.map((row) => row['sequence'] as number);
  }

  async copiedUpTo(table: GrowingTable): Promise<number> {
    const [row] = await this.#session.query(`SELECT max(change) AS change FROM ${table}`);
    return Number(row?.['change'] ?? 0);
  }

  async write(table: GrowingTable, rows: Cell[][]): Promise<void> {
    await this.#insert(table, rows);
  }

  async complete({
    changes,
    offsets,
    circuits,
    oldestAttempt,
  }: Parameters<TargetAdapter['complete']>[0]): Promise<void> {
    const session = this.#session;
    await session.transaction(async () => {
      await session.query('DELETE FROM attempts WHERE started_at < $1 OR $1 IS NULL', [oldestAttempt]);
      await session.run('DELETE FROM outbox_offsets; DELETE FROM circuit_breakers');
      await this.#insert('outbox_offsets', offsets);
      await this.#insert('circuit_breakers', circuits);
      await session.run(writeHeads);
      await session.run(
        `SELECT setval(pg_get_serial_sequence('postbacks', 'sequence'), greatest(max(sequence), 1)) FROM postbacks`,
      );
      await session.query('UPDATE store SET changes = $1', [changes]);
    });
    // Workers come at once, and their statements are planned by what the tables hold.
    await session.run('ANALYZE postbacks; ANALYZE attempts');
  }

  async #cells(table: Table, rest: string, values: number[]): Promise<Cell[][]> {
    const columns = columnsOf(table);
    const rows = await this.#session.query(`SELECT ${columns.join(', ')} FROM ${table} ${rest}`, values);
    return rows.map((row) =>
      columns.map((column) => (column === 'user_id' ? textOf(row[column] as string) : (row[column] as Cell))),
    );
  }

  async #insert(table: Table, rows: Cell[][]): Promise<void> {
    const types = Object.entries(tables[table]);
    const names = columnsOf(table);
    const given = rows.map((row) =>
      Object.fromEntries(
        names.map((name, index) => [name, name === 'user_id' ? storedText(row[index] as string) : row[index]]),
      ),
    );
    const [key = '', ...others] = names;
    await this.#session.query(
      `INSERT INTO ${table} (${names.join(', ')})
       SELECT ${names.join(', ')} FROM json_to_recordset($1) AS given (${types.map(([name, type]) => `${name} ${type}`).join(', ')})
       ON CONFLICT (${key}) DO UPDATE SET ${others.map((name) => `${name} = excluded.${name}`).join(', ')}`,
      [JSON.stringify(given)],
    );
  }
}
