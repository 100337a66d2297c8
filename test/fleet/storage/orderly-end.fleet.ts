import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it, vi } from 'vitest';
import type { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { exitCode } from '../../../src/kit/errors/errors.ts';
import type { Receipt } from '../../fault/deliveries/postback-receiver.ts';
import { Moto } from '../../s3/store/moto.ts';
import { Child } from './child.ts';
import { tellSitesAt } from './leaders.ts';
import { changeJson, Machines } from './machines.ts';

const moto = await Moto.start();
await moto.createBucket();
afterAll(() => moto[Symbol.asyncDispose]());

const receiverFile = fileURLToPath(new URL('../../fault/deliveries/postback-receiver.ts', import.meta.url));

function stateCounts({ deliveriesFile }: DataDirectory): Record<string, number> {
  if (!existsSync(deliveriesFile)) return {};
  const store = new DatabaseSync(deliveriesFile, { readOnly: true });
  try {
    const rows = store.prepare('SELECT state, count(*) AS postbacks FROM postbacks GROUP BY state').all();
    return Object.fromEntries(rows.map(({ state, postbacks }) => [state, postbacks])) as Record<string, number>;
  } finally {
    store.close();
  }
}

it('a rolling update of two machines sends no postback twice', async () => {
  await using machines = await Machines.create(1900, 3, [moto.url, moto.url], moto.url, { clicksARound: 300 });
  await using receiver = new Child(receiverFile, ['1', 'calm']);
  await receiver.tells('address');
  const { address } = JSON.parse(receiver.told) as { address: string };
  for (const data of [machines.alone, ...machines.together]) await tellSitesAt(data, address);
  // So seldom that no refresh comes between the deliveries of one and the end of its process.
  for (const { settingsFile } of machines.together)
    await changeJson(settingsFile, { schedule: { refresh: '*/20 * * * * *', postbacks: null, maintenance: null } });
  const receipts = async () => (await (await fetch(`${address}/receipts`)).json()) as Receipt[];
  const allDelivered = (data: DataDirectory, more: number) =>
    vi.waitFor(
      () => {
        const { delivered = 0, ...others } = stateCounts(data);
        expect([others, delivered > more]).toEqual([{}, true]);
        return delivered;
      },
      { timeout: 90_000, interval: 100 },
    );
  const start = (data: DataDirectory) =>
    Child.offerline(data, ['schedule'], { OFFERLINE_ALLOW_PRIVATE_POSTBACKS: '1' });

  await machines.land(0);
  let [writer, standby] = machines.together as [DataDirectory, DataDirectory];
  let leader = start(writer);
  let sent = await allDelivered(writer, 0);
  for (const round of [1, 2]) {
    const next = start(standby);
    await next.tells('standing by');
    leader.kill('SIGTERM');
    expect(await leader.ended).toBe(exitCode.done);
    await next.tells('this schedule writes now');
    await machines.land(round);
    sent = await allDelivered(standby, sent);
    [writer, standby, leader] = [standby, writer, next];
    const ids = (await receipts()).map(({ webhookId }) => webhookId);
    expect([ids.length, new Set(ids).size]).toEqual([sent, sent]);
  }
  leader.kill('SIGTERM');
  expect(await leader.ended).toBe(exitCode.done);
}, 300_000);
