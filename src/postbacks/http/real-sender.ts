import type { Effects } from '../../kit/files/effects.ts';
import { allowsPrivateNetworks } from '../../kit/guard/address-guard.ts';
import { receiverPort } from './example-route.ts';
import { createSender, type PostbackSender } from './sender.ts';

/** Returns the sender for real requests. The environment allows private networks and the demo's receiver. */
export function postbackSender(
  effects: Pick<Effects, 'now'>,
  environment: NodeJS.ProcessEnv = process.env,
): PostbackSender {
  return createSender({
    allowPrivate: allowsPrivateNetworks(environment),
    exampleReceiverPort: receiverPort(environment),
    now: () => effects.now(),
  });
}
