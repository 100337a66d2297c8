/** What a postback reports: a reward granted, refused, or taken back. */
export type PostbackEvent = 'credit' | 'reject' | 'chargeback';

/** What one postback says; frozen when it is written to the outbox. */
export interface Postback {
  /** Sent as `webhook-id`, the same on every retry. */
  webhookId: string;
  event: PostbackEvent;
  siteKey: string;
  userId: string;
  clickId: string;
  /** In shortest decimal form, such as "0.5". */
  reward: string;
}
