import { randomUUID } from 'node:crypto';
import type { Effects } from '../../kit/files/effects.ts';
import type { Site } from '../../kit/sites/sites.ts';
import type { Outcome } from '../rules/outcome.ts';
import type { Postback } from '../rules/postback.ts';
import { postbackRequest } from './postback-request.ts';
import { postbackSender } from './real-sender.ts';

export type TestOutcome = Outcome & { postback: Postback };

/**
 * Sends a signed postback of reward 0 for a click that does not exist, now and once, and waits for its answer, 15
 * seconds at most. Records nothing. Throws where the site has no postback address.
 */
export async function sendTest(
  site: Site,
  effects: Pick<Effects, 'now'>,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<TestOutcome> {
  const id = `test-${randomUUID()}`;
  const postback: Postback = {
    webhookId: id,
    event: 'credit',
    siteKey: site.site_key,
    userId: 'test',
    clickId: id,
    reward: '0',
  };
  const request = postbackRequest(site, postback, effects.now());
  const sender = postbackSender(effects, environment);
  try {
    return { ...(await sender.send(request)), postback };
  } finally {
    await sender.close();
  }
}
