import { expect, it } from 'vitest';
import { parseSettings } from '../../../src/kit/config/settings.ts';
import { retainStage } from '../../../src/pipeline/maintenance/retain-stage.ts';
import { writePostbackMarts } from '../../../src/pipeline/models/postback-marts.ts';
import { deliverDue } from '../../../src/postbacks/pass/deliver-due.ts';
import { SqliteStore } from '../../../src/postbacks/store/sqlite-store.ts';
import { syncDeliveries } from '../../../src/pipeline/deliveries/sync-deliveries.ts';
import { delivered, enqueuedAt, outboxRow, receiver, refused, siteWith } from '../../support/deliveries.ts';
import { LogLanding } from '../../support/log-landing.ts';
import { testRun } from '../../test-run.ts';

const day = 86_400_000;

it('lets old attempts go, in the delivery store and here, and keeps the postbacks with what became of them', async () => {
  await using landing = await LogLanding.create();
  const store = SqliteStore.open(landing.data);
  await store.importOutbox('a warehouse', [outboxRow(1), outboxRow(2)]);
  const attempt = (at: number, outcome: typeof delivered) =>
    deliverDue({
      ...testRun(landing.data),
      store,
      sites: [siteWith('s')],
      sender: receiver(() => outcome),
      now: () => at,
    });
  // Each fails once when it is written and is taken twenty days later.
  await attempt(enqueuedAt, refused);
  await attempt(enqueuedAt + 20 * day, delivered);
  await store.close();
  const run = (asOf: string) =>
    testRun(landing.data, { asOf, settings: parseSettings('{"retention": {"attempts": 7}}', 'offerline.json') });
  const asOf = '2026-12-14T12:00:00Z';
  expect(await syncDeliveries.run(run(asOf), landing.state)).toMatchObject({ attempts: 4 });
  await writePostbackMarts(run(asOf), landing.state.connection);
  const files = () =>
    landing.query(`SELECT day::VARCHAR AS day FROM mart_files WHERE mart = 'postback_attempts' ORDER BY day`);
  expect(await files()).toEqual([{ day: '2026-11-20' }, { day: '2026-12-10' }, { day: '2026-12-14' }]);

  expect(await retainStage.run(run(asOf), landing.state)).toEqual({ runs: 0, attempts: 2 });
  expect(await files()).toEqual([{ day: '2026-12-10' }, { day: '2026-12-14' }]);
  expect(await retainStage.run(run('2027-03-01T00:00:00Z'), landing.state)).toEqual({ runs: 0, attempts: 2 });
  // A view needs a file to read.
  expect(await files()).toEqual([{ day: '2026-12-14' }]);
  expect(await landing.query('SELECT state, attempts FROM delivery_states')).toEqual([
    { state: 'delivered', attempts: 2 },
    { state: 'delivered', attempts: 2 },
  ]);
  await landing.query('DELETE FROM warehouse_facts');
  expect(await syncDeliveries.run(run(asOf), landing.state)).toMatchObject({ changed: 2, attempts: 0 });
});
