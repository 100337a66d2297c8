import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { writeKnownStore } from '../../../src/pipeline/deliveries/known-store.ts';
import { command, usageErrorOf } from '../../support/commands.ts';
import { LogLanding } from '../../support/log-landing.ts';

it('postbacks that were handed to PostgreSQL go to no file, until the operator says that PostgreSQL is lost', async () => {
  await using landing = await LogLanding.create();
  const { data, state } = landing;
  await landing.query(`INSERT INTO outbox VALUES (1, 'w1', 'c1', 'credit', 'k1', 's', 'u', 7, 0.5,
    TIMESTAMPTZ '2026-11-20T09:59:00Z', TIMESTAMPTZ '2026-11-20T10:00:00Z', NULL)`);
  await writeKnownStore(state.connection, { storeId: 'another', place: 'PostgreSQL at db.example/offerline' }, 7);
  await state.close();
  const sync = ['run', 'sync-deliveries', '--json'];
  expect(await usageErrorOf(data.root, ...sync)).toMatch(
    /handed to PostgreSQL at db\.example\/offerline, and .*`offerline postbacks move --to sqlite`.* --to sqlite --lost`/,
  );
  expect(existsSync(data.deliveriesFile)).toBe(false);

  expect(await usageErrorOf(data.root, 'postbacks', 'move', '--to', 'postgres', '--lost')).toContain('postbacks.store');
  expect(await command(data.root, 'postbacks', 'move', '--to', 'sqlite', '--lost')).toContain('next run fills sqlite');
  expect(JSON.parse(await command(data.root, ...sync))).toMatchObject({ postbacks: { handedOver: 1 } });
});
