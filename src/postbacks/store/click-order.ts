import type { StatementSync } from 'node:sqlite';
import type { DeliveryDatabase } from './delivery-database.ts';

/**
 * Strict order within a click: of its postbacks that are neither delivered nor dead only the first may be sent. One
 * that is being sent comes before all others, so that an event that arrives late does not overtake it on the way.
 */
export class ClickOrder {
  readonly #first: StatementSync;
  readonly #mark: StatementSync;

  constructor(database: DeliveryDatabase) {
    this.#first =
      database.prepare(`SELECT sequence, is_next FROM postbacks WHERE click_id = ? AND state IN ('pending', 'delivering')
      ORDER BY state = 'delivering' DESC, sort_key, conversion_id, sequence LIMIT 1`);
    // It says nothing about the postback itself, so `change` stays.
    this.#mark = database.prepare(
      `UPDATE postbacks SET is_next = (sequence = ?) WHERE click_id = ? AND state IN ('pending', 'delivering') AND is_next <> (sequence = ?)`,
    );
  }

  /** To be called in the transaction that adds a postback to the click, finishes one or brings one back. */
  refreshHead(clickId: string): void {
    const first = this.#first.get(clickId);
    if (first === undefined) return;
    const sequence = first['sequence'] as number;
    this.#mark.run(sequence, clickId, sequence);
  }
}
