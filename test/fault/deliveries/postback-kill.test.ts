import { expect, it } from 'vitest';
import { killDeliveries } from './killed-deliveries.ts';
import { slow } from '../../support/slow.ts';

it('tells every event, under one id and in its turn, whenever deliveries are killed', slow, async () => {
  const { killed, events, underFire, receipts, wrong } = await killDeliveries(11, 2);
  expect(wrong).toEqual([]);
  expect(killed).toBeGreaterThan(0);
  expect(underFire).toBeGreaterThan(0);
  expect(receipts).toBeGreaterThan(events);
});
