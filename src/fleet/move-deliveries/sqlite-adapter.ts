import type { DeliveryDatabase } from '../../postbacks/store/delivery-database.ts';
import {
  columnsOf,
  writeHeads,
  type Cell,
  type GrowingTable,
  type Table,
  type TargetAdapter,
} from './store-adapter.ts';

/** Deliveries in a file of this machine. */
export class SqliteAdapter implements TargetAdapter {
  readonly #database: DeliveryDatabase;

  constructor(database: DeliveryDatabase) {
    this.#database = database;
  }

  get storeId(): string {
    return String(this.#database.prepare('SELECT store_id FROM store').get()?.['store_id']);
  }
  get where(): string {
    return this.#database.file;
  }

  /** A new file is begun for that store. */
  begin(storeId: string): void {
    this.#database.write(() => this.#database.prepare('UPDATE store SET store_id = ?').run(storeId));
  }

  async lastChange(): Promise<number> {
    return Number(this.#database.prepare('SELECT changes FROM store').get()?.['changes']);
  }

  async rowsAfter(table: GrowingTable, change: number, limit: number): Promise<Cell[][]> {
    const columns = columnsOf(table);
    return this.#database
      .prepare(`SELECT ${columns.join(', ')} FROM ${table} WHERE change > ? ORDER BY change LIMIT ?`)
      .all(change, limit)
      .map((row) => columns.map((column) => row[column] as Cell));
  }

  async rows(table: Table): Promise<Cell[][]> {
    const columns = columnsOf(table);
    return this.#database
      .prepare(`SELECT ${columns.join(', ')} FROM ${table}`)
      .all()
      .map((row) => columns.map((column) => row[column] as Cell));
  }

  async headsAfter(sequence: number, limit: number): Promise<number[]> {
    return this.#database
      .prepare(
        `SELECT sequence FROM postbacks WHERE state = 'pending' AND is_next = 1 AND sequence > ? ORDER BY sequence LIMIT ?`,
      )
      .all(sequence, limit)
      .map((row) => row['sequence'] as number);
  }

  async copiedUpTo(table: GrowingTable): Promise<number> {
    return Number(this.#database.prepare(`SELECT max(change) AS change FROM ${table}`).get()?.['change'] ?? 0);
  }

  async write(table: GrowingTable, rows: Cell[][]): Promise<void> {
    this.#database.write(() => this.#insert(table, rows));
  }

  async complete({
    changes,
    offsets,
    circuits,
    oldestAttempt,
  }: Parameters<TargetAdapter['complete']>[0]): Promise<void> {
    this.#database.write(() => {
      this.#database.prepare('DELETE FROM attempts WHERE started_at < ?').run(oldestAttempt ?? Infinity);
      this.#database.prepare('DELETE FROM outbox_offsets').run();
      this.#database.prepare('DELETE FROM circuit_breakers').run();
      this.#insert('outbox_offsets', offsets);
      this.#insert('circuit_breakers', circuits);
      this.#database.prepare(writeHeads).run();
      this.#database.prepare('UPDATE store SET changes = ?').run(changes);
    });
  }

  #insert(table: Table, rows: Cell[][]): void {
    const columns = columnsOf(table);
    const marks = columns.map(() => '?').join(', ');
    const insert = this.#database.prepare(`INSERT OR REPLACE INTO ${table} (${columns.join(', ')}) VALUES (${marks})`);
    for (const row of rows) insert.run(...row);
  }
}
