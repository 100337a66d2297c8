import { expect, it } from 'vitest';
import { defaultSettings } from '../../../src/kit/config/settings.ts';
import { realEffects } from '../../../src/kit/files/effects.ts';
import { deliverDue } from '../../../src/postbacks/pass/deliver-due.ts';
import { openStore, type StoreSettings } from '../../../src/postbacks/open-store.ts';
import { syncDeliveries } from '../../../src/pipeline/deliveries/sync-deliveries.ts';
import { delivered, enqueuedAt, receiver, siteWith } from '../../support/deliveries.ts';
import type { Run } from '../../../src/pipeline/runs/stage.ts';
import { readMetadata, writeMetadata } from '../../../src/pipeline/warehouse/metadata.ts';
import { LogLanding } from '../../support/log-landing.ts';
import { testRun } from '../../test-run.ts';

const enqueue = (landing: LogLanding, number: number) =>
  landing.query(`INSERT INTO outbox VALUES (${number}, 'w${number}', 'c${number}', 'credit', 'k${number}', 's', 'u', 7, 0.5,
    TIMESTAMPTZ '2026-11-20T09:59:00Z', TIMESTAMPTZ '2026-11-20T10:00:00Z', NULL)`);
const states = (landing: LogLanding) =>
  landing.query('SELECT webhook_id, state FROM delivery_states ORDER BY webhook_id');

async function deliver(landing: LogLanding, settings: StoreSettings): Promise<void> {
  const store = await openStore(landing.data, settings);
  const sites = [siteWith('s')];
  await deliverDue({
    ...testRun(landing.data),
    store,
    sites,
    sender: receiver(() => delivered),
    now: () => enqueuedAt,
  });
  await store.close();
}

/** How warehouse and store are kept equal, wherever the store lies. */
export function describeSync(settingsForTest: () => Promise<StoreSettings>): void {
  it('reads back what deliveries changed, and nothing of what it has just handed over', async () => {
    await using landing = await LogLanding.create();
    const settings = { ...defaultSettings, ...(await settingsForTest()) };
    const run = (own: Partial<Run> = {}) => testRun(landing.data, { settings, ...own });
    const sync = () => syncDeliveries.run(run(), landing.state);
    await enqueue(landing, 1);
    await enqueue(landing, 2);
    expect(await sync()).toEqual({ handedOver: 2, changed: 0, attempts: 0 });
    expect(await states(landing)).toEqual([]);
    await deliver(landing, settings);
    await enqueue(landing, 3);
    expect(await sync()).toEqual({ handedOver: 1, changed: 2, attempts: 2 });
    expect(await sync()).toEqual({ handedOver: 0, changed: 0, attempts: 0 });
    expect(await states(landing)).toEqual([
      { webhook_id: 'w1', state: 'delivered' },
      { webhook_id: 'w2', state: 'delivered' },
    ]);
  });

  it.for(['before', 'after'])('misses nothing that is delivered right %s it hands postbacks over', async (moment) => {
    await using landing = await LogLanding.create();
    const settings = { ...defaultSettings, ...(await settingsForTest()) };
    const run = (own: Partial<Run> = {}) => testRun(landing.data, { settings, ...own });
    await enqueue(landing, 1);
    await syncDeliveries.run(run(), landing.state);
    await enqueue(landing, 2);
    const effects: typeof realEffects = {
      ...realEffects,
      perform: async (step, work) => {
        const handsOver = step === 'delivery store: outbox imported';
        if (handsOver && moment === 'before') await deliver(landing, settings);
        const done = await work();
        if (handsOver && moment === 'after') await deliver(landing, settings);
        return done;
      },
    };
    await syncDeliveries.run(run({ effects }), landing.state);
    await deliver(landing, settings);
    await syncDeliveries.run(run(), landing.state);
    expect(await states(landing)).toEqual([
      { webhook_id: 'w1', state: 'delivered' },
      { webhook_id: 'w2', state: 'delivered' },
    ]);
  });

  it.for(['before', 'after'])(`reads what an older copy of the store delivers %s the first sync`, async (moment) => {
    await using landing = await LogLanding.create();
    const settings = { ...defaultSettings, ...(await settingsForTest()) };
    const sync = () => syncDeliveries.run(testRun(landing.data, { settings }), landing.state);
    await enqueue(landing, 1);
    await sync();
    const { storeId } = JSON.parse((await readMetadata(landing.state.connection, 'delivery_store')) ?? '') as {
      storeId: string;
    };
    await writeMetadata(landing.state.connection, 'delivery_store', JSON.stringify({ storeId, upTo: 1000 }));
    if (moment === 'after') await sync();
    await deliver(landing, settings);
    expect(await sync()).toMatchObject({ changed: 1, attempts: 1 });
    expect(await states(landing)).toEqual([{ webhook_id: 'w1', state: 'delivered' }]);
  });
}
