import { expect, it } from 'vitest';
import { enqueuedAt, outboxRow, sqliteForTest } from '../../support/deliveries.ts';
import { describePasses, passesIn } from '../../postbacks/every-store/passes.ts';

const start = enqueuedAt + 1000;

describePasses(sqliteForTest);

it('ends with the reason when the store cannot be written to', async () => {
  const { store, another } = await sqliteForTest();
  const rows = Array.from({ length: 1500 }, (_, index) => outboxRow(index + 1));
  const passes = await passesIn({ store, another }, rows);
  store.database
    .prepare(`CREATE TRIGGER full BEFORE INSERT ON attempts BEGIN SELECT RAISE(FAIL, 'disk is full'); END`)
    .run();
  await expect(passes.pass(start)).rejects.toThrow('disk is full');
  store.database.prepare('DROP TRIGGER full').run();
  expect(await passes.pass(start)).toMatchObject({ due: 1500, delivered: 1500 });
});
