import type { DuckDBConnection } from '@duckdb/node-api';
import type { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { queryRows } from '../../../src/kit/duckdb/dialect/rows.ts';
import { sortKeyOf } from '../../../src/postbacks/store/delivery-rows.ts';
import type { DeliveryState } from '../../../src/postbacks/store/delivery-store.ts';
import { SqliteStore } from '../../../src/postbacks/store/sqlite-store.ts';

/** As the store keeps it: moments as texts or as milliseconds. */
type DeliveryRow = Omit<DeliveryState, 'lastAttemptAt' | 'deliveredAt' | 'nextAttemptAt'> &
  Record<'lastAttemptAt' | 'deliveredAt' | 'nextAttemptAt', number | null>;

/** Gives the store of deliveries every postback of the snapshot, as far as its snapshot says that it has come. */
export async function fillDeliveries(connection: DuckDBConnection, data: DataDirectory): Promise<number> {
  const store = SqliteStore.open(data);
  try {
    const { database } = store;
    database.write(() => database.prepare('DELETE FROM postbacks').run());
    const add = database.prepare(`INSERT INTO postbacks
      (webhook_id, conversion_id, kind, click_id, site_key, user_id, offer_id, reward, occurred_at, enqueued_at, sort_key, is_next, state, attempts,
       plan_attempts, last_attempt_at, last_status, last_error, delivered_at, next_attempt_at, change)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?)`);
    const days = await queryRows<{ day: string }>(
      connection,
      'SELECT DISTINCT occurred_at::DATE::VARCHAR AS day FROM postbacks ORDER BY day',
    );
    let added = 0;
    for (const { day } of days) {
      const rows = await queryRows<DeliveryRow>(connection, postbacksOf(day));
      database.write(() => {
        for (const row of rows) {
          add.run(
            row.webhookId,
            row.conversionId,
            row.kind,
            row.clickId,
            row.siteKey,
            row.userId,
            row.offerId,
            row.reward,
            row.occurredAt,
            row.enqueuedAt,
            sortKeyOf(row.occurredAt, row.kind),
            row.state === 'pending' ? 1 : 0,
            row.state,
            row.attempts,
            row.lastAttemptAt,
            row.lastStatus,
            row.lastError,
            row.deliveredAt,
            row.nextAttemptAt,
            database.nextChange(),
          );
        }
      });
      added += rows.length;
    }
    return added;
  } finally {
    await store.close();
  }
}

/** Times that the store keeps as numbers are milliseconds. */
function postbacksOf(day: string): string {
  return `
    SELECT webhook_id AS webhookId, conversion_id AS conversionId, kind, click_id AS clickId, site_key AS siteKey, user_id AS userId, offer_id AS offerId,
      reward, occurred_at AS occurredAt, enqueued_at AS enqueuedAt, state, attempts, epoch_ms(last_attempt_at) AS lastAttemptAt, last_status AS lastStatus,
      last_error AS lastError, epoch_ms(delivered_at) AS deliveredAt, epoch_ms(next_attempt_at) AS nextAttemptAt
    FROM postbacks
    WHERE occurred_at >= DATE '${day}' AND occurred_at < DATE '${day}' + INTERVAL 1 DAY
    ORDER BY occurred_at, click_id`;
}
