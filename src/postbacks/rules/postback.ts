import type { FurtherValue } from '../../kit/sites/postback-address.ts';
import type { ConversionKind } from '../../kit/vocabulary/values.ts';

/** Content of one postback; frozen when it is written to the outbox. */
export interface Postback {
  /** Sent as `webhook-id`, the same on every retry. */
  webhookId: string;
  event: ConversionKind;
  siteKey: string;
  userId: string;
  clickId: string;
  /** In shortest decimal form, such as "0.5". */
  reward: string;
  /** What a site may ask for beside these, as far as it is known. */
  further?: Readonly<Partial<Record<FurtherValue, string>>>;
}
