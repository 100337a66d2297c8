import { readdir, readlink, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeEach, expect, it, onTestFinished } from 'vitest';
import { maintenance } from '../../../pipelines/maintenance.ts';
import { refresh } from '../../../pipelines/refresh.ts';
import type { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { defaultSettings } from '../../../src/kit/config/settings.ts';
import { openDuckDB, readOnly } from '../../../src/kit/duckdb/open.ts';
import { exitCode, UsageError } from '../../../src/kit/errors/errors.ts';
import { smallNetwork } from '../../support/generated-network.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { noProgress } from '../../../src/kit/logging/progress.ts';
import { warehouseIdKey } from '../../../src/pipeline/deliveries/sync-deliveries.ts';
import { LostSwapError, StorageError, storePatience } from '../../../src/fleet/storage/object-store.ts';
import { readPointer } from '../../../src/fleet/storage/pointer.ts';
import { syncFromStorage } from '../../../src/fleet/storage/writer/sync-from-storage.ts';
import { verifySnapshot } from '../../../src/pipeline/snapshot/verify.ts';
import { wallClock } from '../../fault/lives/growing-landing.ts';
import { differences, publishedAndHandedOver, publishedTables } from '../../fault/lives/published-tables.ts';
import { watchedEffects } from '../../fault/lives/watched-effects.ts';
import { readMetadata } from '../../../src/pipeline/warehouse/metadata.ts';
import { openAnalyst } from '../../e2e/analysts/open-analyst.ts';
import { FaultyProxy, type PassedRequest, type ProxyFault } from '../../s3/store/faulty-proxy.ts';
import { Moto } from '../../s3/store/moto.ts';
import { offerline } from '../../support/command-line.ts';
import { writeLogFile } from '../../support/log-files.ts';
import { Child } from './child.ts';
import { changeJson, Machines, storageAt } from './machines.ts';

const moto = await Moto.start();
await moto.createBucket();
afterAll(() => moto[Symbol.asyncDispose]());

const terminal = { logger: createLogger({ write: () => true }, 'silent'), progress: noProgress };
const effects = watchedEffects(wallClock, () => undefined);
const run = (data: DataDirectory, asOf: string) => refresh({ data, terminal, asOf }, effects);
const isPointer = ({ path }: PassedRequest) => path.includes('current.json');
const isContent = ({ path }: PassedRequest) => path.includes('/content/');
const isPut = ({ method }: PassedRequest) => method === 'PUT';
/** A fault, and the requests that it meets. */
type Hit = [isHit: (request: PassedRequest) => boolean, fault: ProxyFault];

/** So many that the network has postbacks to hand over. */
const network = { clicksARound: 100, landingSeed: 500 };
const rounds = 6;
let seed = network.landingSeed;
let proxy: FaultyProxy;
let machines: Machines;
let first: DataDirectory;
let other: DataDirectory;
/** The last round that all machines see. */
let lastRound: number;

/** What a machine by itself comes to with each round: all networks land the same, so it works once for all. */
const ofOneMachine: Map<string, string[]>[] = [];
{
  await using one = await Machines.create(seed, rounds, [], moto.url, network);
  for (let round = 0; round < one.landing.rounds; round++) {
    await one.land(round);
    await run(one.alone, one.landing.asOf(round));
    ofOneMachine.push(await publishedAndHandedOver(one.alone));
  }
}

/** The first machine reaches storage through the proxy, the other one by itself. */
beforeEach(async () => {
  proxy = await FaultyProxy.before(moto.url);
  machines = await Machines.create(++seed, rounds, [proxy.url, moto.url], moto.url, network);
  onTestFinished(async () => {
    await machines[Symbol.asyncDispose]();
    await proxy[Symbol.asyncDispose]();
  });
  [first, other] = machines.together as [DataDirectory, DataDirectory];
});

/** A round that all see; gives its as-of. */
async function landed(round: number): Promise<string> {
  lastRound = round;
  await machines.land(round);
  return machines.landing.asOf(round);
}

async function expectSameAsAlone(data: DataDirectory, alone = ofOneMachine[lastRound]): Promise<void> {
  expect(await machines.forks()).toEqual([]);
  expect(differences(alone as Map<string, string[]>, await publishedAndHandedOver(data))).toEqual([]);
}

/**
 * One request that met the fault in every one of its tries would fail its run, as it should; chance brings that about.
 */
function notInAllTries(isAmongThem: (request: PassedRequest) => boolean): (request: PassedRequest) => boolean {
  const hitInARow = new Map<string, number>();
  return (request) => {
    const key = `${request.method} ${request.path}`;
    const hits = hitInARow.get(key) ?? 0;
    const isHit = isAmongThem(request) && hits < storePatience.tries - 1;
    hitInARow.set(key, isHit ? hits + 1 : 0);
    return isHit;
  };
}

it('where storage is slow, cuts or refuses requests or loses answers, runs go on as if nothing were', async () => {
  const among = (number: number, isHit: (request: PassedRequest) => boolean = () => true) =>
    notInAllTries((request) => isHit(request) && proxy.requests.length % number === 1);
  const faults: Hit[] = [
    [among(100), { cutAfter: 0 }],
    [among(5), { status: 503, code: 'SlowDown' }],
    [among(7, isPut), { answerLost: true }],
  ];
  for (const [round, [isHit, fault]] of faults.entries()) {
    let hits = 0;
    proxy.fault = (request) => {
      if (!isHit(request)) return undefined;
      hits += 1;
      return fault;
    };
    await run(first, await landed(round));
    expect(hits, JSON.stringify(fault)).toBeGreaterThan(0);
    await expectSameAsAlone(first);
  }
  proxy.fault = async () => {
    await setTimeout(250);
    return undefined;
  };
  await run(first, await landed(faults.length));
  await expectSameAsAlone(first);
  await run(other, machines.landing.asOf(lastRound));
  await expectSameAsAlone(other);
});

it('where contents or the pointer do not arrive, the run stands here, and the next one brings it to storage', async () => {
  const faults: Hit[] = [
    [(each) => isPut(each) && isContent(each), { status: 500, code: 'InternalError' }],
    [(each) => isPut(each) && isContent(each), { changed: true }],
    [(each) => isPut(each) && isPointer(each), { status: 503, code: 'SlowDown' }],
    [(each) => isPut(each) && isPointer(each), { cutAfter: 0 }],
    [isPointer, { answerLost: true }],
  ];
  await run(first, await landed(0));
  for (const [index, [isHit, fault]] of faults.entries()) {
    const asOf = await landed(index + 1);
    proxy.requests.length = 0;
    proxy.fault = (request) => (isHit(request) && proxy.requests.some(isPut) ? fault : undefined);
    await expect(run(first, asOf), JSON.stringify(fault)).rejects.toThrow(
      /is done here and is not in storage; the next run publishes it there.*cannot (read|write)/,
    );
    proxy.fault = () => undefined;
    await run(first, asOf);
    await expectSameAsAlone(first);
  }
  await run(other, machines.landing.asOf(lastRound));
  await expectSameAsAlone(other);
});

it('where storage is away a run does not begin, and says why', async () => {
  await run(first, await landed(0));
  const asOf = await landed(1);
  proxy.fault = () => ({ cutAfter: 0 });
  await expect(run(first, asOf)).rejects.toThrow(/cannot read current.json: no whole answer \(ECONNRESET\)/);
  proxy.fault = () => undefined;
  await run(first, asOf);
  await expectSameAsAlone(first);
});

it('storage that does not mind If-Match is refused before anything is made', async () => {
  const asOf = await landed(0);
  proxy.fault = () => ({ without: ['if-match'] });
  await expect(run(first, asOf)).rejects.toThrow('Use storage with conditional writes');
  expect(await readPointer(machines.store)).toBeUndefined();
});

it('a writer that loses the race says so, exits 1, discards its run, and its next run is right', async () => {
  await run(first, await landed(0));
  const asOf = await landed(1);
  let winner: Promise<unknown> | undefined;
  proxy.fault = async (request) => {
    if (isPut(request) && isPointer(request)) await (winner ??= run(other, asOf));
    return undefined;
  };
  await using loser = Child.offerline(first, ['run', 'refresh', '--as-of', asOf]);
  expect(await loser.ended).toBe(exitCode.failed);
  expect(loser.told).toMatch(/run 2 is discarded: s3:\S+ another writer has changed current.json meanwhile/);
  expect(loser.told).not.toMatch(/secret\+key/);
  await expectSameAsAlone(other);
  expect(differences(await publishedTables(other), await publishedTables(first))).toEqual([]);
  const next = await landed(2);
  await run(first, next);
  await expectSameAsAlone(first);
});

it('what a discarded run left under the names of the published one is not taken for that', async () => {
  // As many clicks on each of two days: the files of runs that read one of them have the same names and sizes.
  const { clicks } = smallNetwork(seed, { clicks: 400, days: 3, end: new Date(Date.UTC(2026, 2, 10, 13)) });
  const ofDay = (day: string) =>
    clicks
      .filter(({ clicked_at }) => clicked_at.startsWith(day))
      .slice(0, 40)
      .map((click) => ({ ...click }));
  const land = async (day: string, name: string, ...to: DataDirectory[]) => {
    // In another order where it comes again: the same bytes would be known for a copy at once.
    const rows = name.endsWith('again') ? ofDay(day).toReversed() : ofDay(day);
    for (const { landing } of to) await writeLogFile(join(landing, 'clicks', name), 'clicks', 'ndjson', rows);
  };
  await land('2026-03-09', 'ours', first);
  proxy.fault = (request) => (isPut(request) && isContent(request) ? { cutAfter: 0 } : undefined);
  const asOf = machines.landing.asOf(3);
  await expect(run(first, asOf)).rejects.toThrow('is done here and is not in storage');
  proxy.fault = () => undefined;
  await land('2026-03-08', 'theirs', other);
  await run(other, asOf);
  await land('2026-03-08', 'theirs', machines.alone, first);
  await land('2026-03-09', 'ours', machines.alone);
  await run(machines.alone, asOf);
  await land('2026-03-08', 'theirs-again', machines.alone, first);
  await run(machines.alone, asOf);
  await run(first, asOf);
  const clicksOf = async (data: DataDirectory) =>
    new Map([...(await publishedTables(data, { except: ['file_id'] }))].filter(([table]) => table === 'clicks'));
  expect((await clicksOf(first)).get('clicks')?.length).toBe(80);
  expect(differences(await clicksOf(machines.alone), await clicksOf(first))).toEqual([]);
});

it('a warehouse from before storage was switched on never gives way to one that was quicker', async () => {
  const asOf = await landed(0);
  await changeJson(first.settingsFile, { storage: undefined });
  await run(first, asOf);
  const published = await publishedTables(first);
  await changeJson(first.settingsFile, { storage: storageAt(seed, proxy.url) });
  const next = await landed(1);
  // Its first run with storage dies before it has published; another machine, with nothing of its own, is quicker.
  proxy.fault = (request) => (isPut(request) && isContent(request) ? { cutAfter: 0 } : undefined);
  await expect(run(first, next)).rejects.toThrow(StorageError);
  proxy.fault = () => undefined;
  await run(other, next);
  await expect(run(first, next)).rejects.toThrow(UsageError);
  await expect(run(first, next)).rejects.toThrow('has a state of its own');
  expect((await publishedTables(first)).size).toBe(published.size);
  // With storage switched off again it goes on by itself.
  await changeJson(first.settingsFile, { storage: undefined });
  await run(first, next);
  expect(differences(ofOneMachine[lastRound] as Map<string, string[]>, await publishedAndHandedOver(first))).toEqual(
    [],
  );
});

it('a warehouse from before storage is published whole by its first run, and another machine goes on from it', async () => {
  const asOf = await landed(0);
  await changeJson(first.settingsFile, { storage: undefined });
  await run(first, asOf);
  await changeJson(first.settingsFile, { storage: storageAt(seed, proxy.url) });
  const next = await landed(1);
  await run(first, next);
  await run(other, await landed(2));
  await expectSameAsAlone(other);
});

it('a pointer that is gone is told, and nothing is published in its place', async () => {
  await run(first, await landed(0));
  await machines.store.remove('current.json');
  const asOf = await landed(1);
  await expect(run(first, asOf)).rejects.toThrow('has no current.json any more');
  expect(await readPointer(machines.store)).toBeUndefined();
});

it('a machine that takes over twice puts one delivery store aside', async () => {
  for (const round of [0, 1, 2, 3]) {
    const asOf = await landed(round);
    await run(first, asOf);
    await run(other, asOf);
    await expectSameAsAlone(other);
  }
  expect(await readdir(other.quarantine)).toEqual(['replaced-deliveries']);
});

it('a takeover leaves an older snapshot that an analyst has open, and a later one removes it', async () => {
  const logged: string[] = [];
  const logger = createLogger({ write: (line: string) => logged.push(line) > 0 }, 'warn');
  const standBy = () =>
    syncFromStorage({ data: other, settings: defaultSettings, logger, effects, store: machines.store });
  const newest = async () => (await readPointer(machines.store))?.pointer.snapshots[0]?.snapshot_id as string;
  await run(first, await landed(0));
  await standBy();
  const held = await newest();
  const analyst = await openAnalyst(join(other.current, 'analytics.duckdb'));
  // Two snapshots are kept.
  for (const round of [1, 2, 3]) {
    await run(first, await landed(round));
    await standBy();
    expect(await readlink(other.current)).toBe(await newest());
    await verifySnapshot(join(other.published, held));
  }
  await analyst.close();
  await maintenance({ data: first, terminal, asOf: machines.landing.asOf(3) }, effects);
  await standBy();
  expect(await readdir(other.published)).not.toContain(held);
  expect(logged).toEqual([]);
});

it('maintenance on one machine and runs on the other come to what one machine comes to', async () => {
  for (const round of [0, 1]) {
    const asOf = await landed(round);
    await run(machines.alone, asOf);
    await run(first, asOf);
    await maintenance({ data: other, terminal, asOf }, effects);
    await maintenance({ data: machines.alone, terminal, asOf }, effects);
  }
  const asOf = await landed(2);
  await run(machines.alone, asOf);
  await run(first, asOf);
  expect(differences(await publishedTables(machines.alone), await publishedTables(first))).toEqual([]);
  expect(await machines.forks()).toEqual([]);
});

it('each machine hands postbacks over by numbers of its own, which a discarded run of another one cannot use up', async () => {
  const ids = new Set<string | undefined>();
  for (let round = 0; round < 3; round++) await machines.land(round);
  const asOf = await landed(3);
  await run(machines.alone, asOf);
  const alone = await publishedAndHandedOver(machines.alone);
  for (const data of [first, other, first]) {
    await run(data, asOf);
    const state = await openDuckDB(data.stateFile, readOnly);
    ids.add(await readMetadata(state.connection, warehouseIdKey));
    state.close();
    await expectSameAsAlone(data, alone);
  }
  expect([...ids]).toEqual([expect.any(String), expect.any(String), expect.any(String)]);
});

it('a machine whose warehouse was moved away, or is rebuilt, goes on from what storage has', async () => {
  await run(first, await landed(0));
  await run(other, await landed(1));
  await rename(first.warehouse, join(first.root, 'moved-away'));
  const asOf = await landed(2);
  await run(first, asOf);
  await expectSameAsAlone(first);
  // The other one has not seen that run: what it rebuilds is not the state of before it.
  const before = (await readPointer(machines.store))?.pointer.run_id ?? 0;
  const { code, stderr } = await offerline(other.root, 'rebuild');
  expect({ code, stderr }).toMatchObject({ code: exitCode.done });
  const after = (await readPointer(machines.store))?.pointer;
  expect(after?.run_id).toBeGreaterThan(before);
  expect(await machines.forks()).toEqual([]);
});

it('a swap whose outcome nobody heard of is known for ours by the next run', async () => {
  await run(first, await landed(0));
  const asOf = await landed(1);
  proxy.requests.length = 0;
  // The swap is done, and neither its answer nor a look at it comes through.
  let swapped = false;
  proxy.fault = (request) => {
    if (isPut(request) && isPointer(request)) swapped = true;
    return swapped ? { answerLost: true } : undefined;
  };
  await expect(run(first, asOf)).rejects.toThrow(StorageError);
  proxy.fault = () => undefined;
  const after = await readPointer(machines.store);
  await run(first, asOf);
  expect((await readPointer(machines.store))?.pointer.snapshots[0]).toEqual(after?.pointer.snapshots[0]);
  await expectSameAsAlone(first);
});

it('LostSwapError is an error of storage that leaves a code of failure', () => {
  expect(new LostSwapError('lost').exitCode).toBe(exitCode.failed);
});
