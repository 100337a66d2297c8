import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { maintenance } from '../../../pipelines/maintenance.ts';
import { refresh } from '../../../pipelines/refresh.ts';
import type { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { realEffects } from '../../../src/kit/files/effects.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { noProgress } from '../../../src/kit/logging/progress.ts';
import { readPointer, type Content } from '../../../src/fleet/storage/pointer.ts';
import { parseManifest } from '../../../src/pipeline/snapshot/manifest.ts';
import { contentKey, contentOf, readContent } from '../../../src/fleet/storage/contents.ts';
import { publishedTables } from '../../fault/lives/published-tables.ts';
import { FaultyProxy } from '../../s3/store/faulty-proxy.ts';
import { Moto } from '../../s3/store/moto.ts';
import { writeLogFile } from '../../support/log-files.ts';
import { Machines } from './machines.ts';

const moto = await Moto.start();
await moto.createBucket();
afterAll(() => moto[Symbol.asyncDispose]());

const terminal = { logger: createLogger({ write: () => true }, 'silent'), progress: noProgress };
const day = 24 * 3_600_000;
const end = Date.UTC(2026, 5, 1, 12);
const at = (time: number) => new Date(time).toISOString();
const clockAt = (now: number) => ({ ...realEffects, now: () => now });

let seed = 800;
async function machineBehindProxy() {
  const proxy = await FaultyProxy.before(moto.url);
  const machines = await Machines.create(++seed, 4, [proxy.url, moto.url], moto.url);
  onTestFinished(async () => {
    await machines[Symbol.asyncDispose]();
    await proxy[Symbol.asyncDispose]();
  });
  const [data, other] = machines.together as [DataDirectory, DataDirectory];
  return { proxy, machines, data, other };
}

/** So many clicks until a moment. */
function clicksOf(time: number, count: number) {
  return Array.from({ length: count }, (_, index) => ({
    click_id: `click-${time}-${index}`,
    offer_id: 100 + (index % 12),
    site_key: 'perkhaven',
    user_id: `u${index % 50}`,
    clicked_at: at(time - index * 1000),
    country: 'ES',
    device: 'android',
  }));
}

/** Requests and bytes of a publish of 200 new clicks after so many days of 500 clicks each. */
async function costAfter(days: number) {
  const { proxy, machines, data } = await machineBehindProxy();
  await machines.landing.land(data, 0);
  const folder = join(data.landing, 'clicks');
  await mkdir(folder, { recursive: true });
  for (let ago = days; ago > 0; ago--)
    await writeLogFile(join(folder, `day-${ago}`), 'clicks', 'ndjson', clicksOf(end - ago * day, 500));
  // A first run has all as news; the second is one like those that follow.
  const costs: { requests: number; bytes: number; kinds: Record<string, number> }[] = [];
  for (let run = 0; run < 4; run++) {
    const now = end + run * 60_000;
    if (run > 0) await writeLogFile(join(folder, `news-${run}`), 'clicks', 'ndjson', clicksOf(now, 200));
    proxy.requests.length = 0;
    await refresh({ data, terminal, asOf: at(now) }, clockAt(now));
    const kinds = Object.groupBy(proxy.requests, ({ method, path }) => `${method} ${path.split('/')[3]}`);
    costs.push({
      requests: proxy.requests.length,
      bytes: proxy.requests.reduce((sum, { bytes }) => sum + bytes, 0),
      kinds: Object.fromEntries(Object.entries(kinds).map(([kind, each]) => [kind, each?.length ?? 0])),
    });
  }
  return costs;
}

it('what a publish costs grows with what changed, not with history', async () => {
  const [short, long] = [await costAfter(10), await costAfter(100)];
  process.stderr.write(`10 days:  ${JSON.stringify(short)}\n100 days: ${JSON.stringify(long)}\n`);
  const [few, many] = [short.at(-1), long.at(-1)] as [(typeof short)[number], (typeof short)[number]];
  expect(many.requests).toBeLessThanOrEqual(few.requests + 2);
  expect(many.bytes / few.bytes).toBeLessThan(1.1);
}, 600_000);

it('maintenance sweeps litter that is a day old, nothing that is named, and brings back what storage lost', async () => {
  const { machines, data, other } = await machineBehindProxy();
  const { store } = machines;
  const now = Date.now();
  await machines.land(0);
  const asOf = machines.landing.asOf(0);
  await refresh({ data, terminal, asOf }, clockAt(now));
  const keys = async () => {
    const found: string[] = [];
    for await (const { key } of store.list('')) found.push(key);
    return found;
  };
  const litter = Buffer.from('half of a publish that was killed');
  await store.write(contentKey(contentOf(litter)), litter);
  await store.write('probe-of-a-killed-start.json', litter);
  await maintenance({ data, terminal, asOf }, clockAt(now + 3_600_000));
  expect(await keys()).toContain(contentKey(contentOf(litter)));

  // Somebody tidied up: the newest snapshot is not whole any more.
  const [newest] = (await readPointer(store))?.pointer.snapshots ?? [];
  const { files } = parseManifest((await readContent(store, newest?.manifest as Content)).toString());
  const lost = contentKey(files['analytics.duckdb'] as Content);
  await store.remove(lost);
  await maintenance({ data, terminal, asOf }, clockAt(now + 2 * day));
  const after = await keys();
  expect(after).not.toContain(contentKey(contentOf(litter)));
  expect(after).not.toContain('probe-of-a-killed-start.json');
  expect(after).toContain(lost);
  // A machine that has nothing yet finds all that it needs.
  await refresh({ data: other, terminal, asOf }, clockAt(now));
  expect(await publishedTables(other)).toEqual(await publishedTables(data));
});
