import { onTestFinished } from 'vitest';
import type { DeliveryStore } from '../../src/postbacks/store/delivery-store.ts';
import type { OutboxRow } from '../../src/postbacks/store/delivery-rows.ts';
import { SqliteStore } from '../../src/postbacks/store/sqlite-store.ts';
import type { Outcome } from '../../src/postbacks/rules/outcome.ts';
import type { PostbackRequest } from '../../src/postbacks/http/postback-request.ts';
import type { PostbackSender } from '../../src/postbacks/http/sender.ts';
import { siteSchema, type Site } from '../../src/kit/sites/sites.ts';
import { temporaryData } from './published-snapshot.ts';

export const hour = 3_600_000;
/** Milliseconds since the epoch of what the rows below were enqueued at. */
export const enqueuedAt = Date.parse('2026-11-20T10:00:00Z');

/** An event of a click of its own, with what the test cares about put over it. */
export function outboxRow(number: number, own: Partial<OutboxRow> = {}): OutboxRow {
  return {
    number,
    webhookId: `w${number}`,
    conversionId: `c${number}`,
    kind: 'credit',
    clickId: `k${number}`,
    siteKey: 's',
    userId: 'u',
    offerId: 7,
    reward: '0.5',
    occurredAt: '2026-11-20T09:59:00Z',
    enqueuedAt: '2026-11-20T10:00:00Z',
    further: null,
    ...own,
  };
}

export function siteWith(site_key: string, url = `https://${site_key}.example/postback`): Site {
  return siteSchema.parse({ site_key, site_secret: `secret-of-${site_key}-long-enough`, postback: { url } });
}

/** Connections to one store. */
export interface StoreForTest<Store extends DeliveryStore = DeliveryStore> {
  store: Store;
  another: () => Promise<DeliveryStore>;
}

/** An empty store in SQLite, closed and removed when the running test ends. */
export async function sqliteForTest(): Promise<StoreForTest<SqliteStore>> {
  const { data, remove } = await temporaryData();
  const opened: SqliteStore[] = [];
  const open = () => {
    const store = SqliteStore.open(data);
    opened.push(store);
    return store;
  };
  onTestFinished(async () => {
    for (const store of opened) await store.close();
    await remove();
  });
  return { store: open(), another: async () => open() };
}

export const delivered: Outcome = {
  status: 200,
  error: null,
  retryAfterSeconds: null,
  durationMilliseconds: 3,
  host: 'host.example:443',
};
export const refused: Outcome = { ...delivered, status: 500, error: 'http_status' };
export const unreachable: Outcome = { ...delivered, status: null, error: 'timeout' };

/** A receiver that answers at once as it is told, by the webhook's id; `sent` is what it got, in order. */
export function receiver(
  answer: (webhookId: string, request: PostbackRequest) => Outcome | Promise<Outcome> = () => delivered,
): PostbackSender & { sent: string[] } {
  const sent: string[] = [];
  return {
    sent,
    async send(request) {
      const webhookId = request.headers['webhook-id'] as string;
      sent.push(webhookId);
      return answer(webhookId, request);
    },
    close: async () => {},
  };
}
