import { expect, it, onTestFinished } from 'vitest';
import { OfferlineError } from '../../src/kit/errors/errors.ts';
import { resendPostback } from '../../src/postbacks/resend-postback.ts';
import { SqliteStore } from '../../src/postbacks/store/sqlite-store.ts';
import { enqueuedAt, hour, outboxRow } from '../support/deliveries.ts';
import { temporaryData } from '../support/published-snapshot.ts';
import { slow } from '../support/slow.ts';

it('of many orders at once some dozens wait their turn, and the others are refused', slow, async () => {
  const { data, remove } = await temporaryData();
  const store = SqliteStore.open(data);
  onTestFinished(async () => {
    await store.close();
    await remove();
  });
  const numbers = Array.from({ length: 60 }, (_, index) => index + 1);
  await store.importOutbox(
    'warehouse',
    numbers.map((number) => outboxRow(number)),
  );
  const now = enqueuedAt + hour;
  const order = (number: number) =>
    resendPostback(data, { siteKey: 's', webhookId: `w${number}`, attempts: undefined }, now, () => true);
  const ended = await Promise.allSettled(numbers.map(order));
  const refused = ended.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []));
  expect(refused).toHaveLength(60 - 33);
  for (const reason of refused) expect(reason).toBeInstanceOf(OfferlineError);
  // What was refused is taken once there is room.
  expect(await order(60)).toMatchObject({ postback: { state: 'pending' } });
});
