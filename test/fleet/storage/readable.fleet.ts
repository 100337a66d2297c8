import { rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { maintenance } from '../../../pipelines/maintenance.ts';
import { refresh } from '../../../pipelines/refresh.ts';
import { readPointer } from '../../../src/fleet/storage/pointer.ts';
import { catalogKey, readablePrefix } from '../../../src/fleet/storage/readable-names.ts';
import { sweepStorage } from '../../../src/fleet/storage/writer/sweep-storage.ts';
import type { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { queryRows } from '../../../src/kit/duckdb/dialect/rows.ts';
import { inMemory, withDuckDB } from '../../../src/kit/duckdb/open.ts';
import { realEffects, type Effects } from '../../../src/kit/files/effects.ts';
import { exitCode } from '../../../src/kit/errors/errors.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { noProgress } from '../../../src/kit/logging/progress.ts';
import { snapshotNames } from '../../../src/pipeline/snapshot/snapshot-store.ts';
import { wallClock } from '../../fault/lives/growing-landing.ts';
import { killedRefresh } from '../../fault/lives/killed-refresh.ts';
import { FaultyProxy } from '../../s3/store/faulty-proxy.ts';
import { Moto } from '../../s3/store/moto.ts';
import { offerline } from '../../support/command-line.ts';
import { Machines } from './machines.ts';

const moto = await Moto.start();
await moto.createBucket();
afterAll(() => moto[Symbol.asyncDispose]());

const terminal = { logger: createLogger({ write: () => true }, 'silent'), progress: noProgress };
const day = 24 * 3_600_000;
const clockAt = (now: number): Effects => ({ ...realEffects, now: () => now });
const run = (data: DataDirectory, asOf: string, effects = clockAt(wallClock)) =>
  refresh({ data, terminal, asOf }, effects);

/** The catalog of storage, as analysts find it. */
async function catalogOf({ store, alone }: Machines) {
  const path = join(alone.root, 'catalog-of-the-bucket.duckdb');
  await writeFile(path, await store.read(catalogKey));
  try {
    return await withDuckDB(inMemory, {}, async (connection) => {
      await connection.run(`ATTACH '${path}' AS lake (READ_ONLY); USE lake`);
      const [place] = await queryRows<{ value: string }>(
        connection,
        `SELECT value FROM ducklake_metadata WHERE key = 'data_path'`,
      );
      const shown = await queryRows<{ name: string }>(
        connection,
        'SELECT commit_message AS name FROM ducklake_snapshot_changes ORDER BY snapshot_id DESC',
      );
      const files = await queryRows<{ path: string; bytes: number }>(
        connection,
        'SELECT path, file_size_bytes AS bytes FROM ducklake_data_file ORDER BY path',
      );
      return { place: place?.value, shown: shown.map(({ name }) => name), files };
    });
  } finally {
    rmSync(path);
  }
}

/** What is wrong with the catalog: files that are not there as it says, and whether it shows other snapshots. */
async function faultsOf(machines: Machines, { isBehind = false } = {}): Promise<string[]> {
  const { files, shown } = await catalogOf(machines);
  const there = await namesOf(machines);
  const missing = files.filter(({ path, bytes }) => there.get(path) !== bytes).map(({ path }) => `${path} is missing`);
  const pointed = (await readPointer(machines.store))?.pointer.snapshots.map(({ snapshot_id }) => snapshot_id);
  const isSame = JSON.stringify(shown) === JSON.stringify(pointed);
  return [...missing, ...(isSame || isBehind ? [] : [`${shown.join(', ')} in place of ${pointed?.join(', ')}`])];
}

/** Sizes of objects below the prefix of analysts, by name. */
async function namesOf({ store }: Machines): Promise<Map<string, number>> {
  const names = new Map<string, number>();
  for await (const { key, bytes } of store.list(readablePrefix)) names.set(key.slice(readablePrefix.length), bytes);
  return names;
}

let seed = 2500;

it('whichever machine is killed, and when, the catalog names what is there; the next run shows its own', async () => {
  const kills = [
    { step: 'storage: table named', occurrence: 1, moment: 'after' },
    { step: 'storage: pointer swapped', occurrence: 1, moment: 'before' },
    { step: 'storage: pointer swapped', occurrence: 1, moment: 'after' },
    { step: 'storage: catalog written', occurrence: 1, moment: 'before' },
    { step: 'storage: catalog written', occurrence: 1, moment: 'after' },
  ] as const;
  await using machines = await Machines.create(++seed, kills.length + 1, [moto.url, moto.url]);
  const [one, two] = machines.together as [DataDirectory, DataDirectory];
  await machines.land(0);
  await run(one, machines.landing.asOf(0));
  expect(await faultsOf(machines)).toEqual([]);
  const { place, files } = await catalogOf(machines);
  expect(place).toBe(`${machines.store.url}/published/`);
  expect(files.map(({ path }) => path)).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^tables\/offers-[0-9a-f]{12}\.parquet$/),
      expect.stringMatching(/^events\/clicks\/\d{4}-\d\d-\d\d-.*\.parquet$/),
    ]),
  );
  for (const [index, killAt] of kills.entries()) {
    const asOf = machines.landing.asOf(index + 1);
    await machines.land(index + 1);
    const [killed, other] = index % 2 === 0 ? [one, two] : [two, one];
    const died = await killedRefresh({ pipeline: 'refresh', root: killed.root, asOf, wallClock, killAt });
    expect(died.signal, `${killAt.step}: ${died.told}`).toBe('SIGKILL');
    expect(await faultsOf(machines, { isBehind: true }), killAt.step).toEqual([]);
    await run(other, asOf);
    expect(await faultsOf(machines), killAt.step).toEqual([]);
  }
});

it('names go with their snapshots by maintenance, never before the catalog; names that are lost come back', async () => {
  await using machines = await Machines.create(++seed, 5, [moto.url]);
  const [data] = machines.together as [DataDirectory];
  for (let round = 0; round < 3; round++) {
    await machines.land(round);
    await run(data, machines.landing.asOf(round));
  }
  const before = [...(await namesOf(machines)).keys()];
  await machines.land(3);
  const asOf = machines.landing.asOf(3);
  const killAt = { step: 'storage: pointer swapped', occurrence: 1, moment: 'after' } as const;
  await killedRefresh({ pipeline: 'refresh', root: data.root, asOf, wallClock, killAt });
  const inTwoDays = Date.now() + 2 * day;
  await sweepStorage(machines.store, terminal.logger, inTwoDays);
  expect(await faultsOf(machines, { isBehind: true })).toEqual([]);
  expect([...(await namesOf(machines)).keys()]).toEqual(expect.arrayContaining(before));

  const { files } = await catalogOf(machines);
  await run(data, asOf);
  const lost = (await catalogOf(machines)).files.at(-1)?.path ?? '';
  await machines.store.remove(readablePrefix + lost);
  await maintenance({ data, terminal, asOf }, clockAt(Date.now()));
  expect(await faultsOf(machines)).toEqual([]);
  await sweepStorage(machines.store, terminal.logger, inTwoDays);
  expect(await faultsOf(machines)).toEqual([]);
  const left = await namesOf(machines);
  const named = new Set((await catalogOf(machines)).files.map(({ path }) => path));
  expect(files.filter(({ path }) => !named.has(path)).length).toBeGreaterThan(0);
  expect([...left.keys()].filter((name) => !named.has(name))).toEqual(['offerline.ducklake']);
});

it('a writer that another one has overtaken leaves the catalog to it', async () => {
  await using machines = await Machines.create(++seed, 3, [moto.url, moto.url]);
  const [one, two] = machines.together as [DataDirectory, DataDirectory];
  await machines.land(0);
  await run(one, machines.landing.asOf(0));
  await machines.land(1);
  let overtaken = false;
  const effects = clockAt(wallClock);
  await run(one, machines.landing.asOf(1), {
    ...effects,
    perform: async (step, work) => {
      if (step === 'storage: catalog written' && !overtaken) {
        overtaken = true;
        await machines.land(2);
        await run(two, machines.landing.asOf(2));
      }
      return work();
    },
  });
  expect(overtaken).toBe(true);
  expect(await faultsOf(machines)).toEqual([]);
});

it('where storage fails at the catalog the run says so, and the next one writes it', async () => {
  await using proxy = await FaultyProxy.before(moto.url);
  await using machines = await Machines.create(++seed, 2, [proxy.url], moto.url);
  const [data] = machines.together as [DataDirectory];
  await machines.land(0);
  proxy.fault = ({ method, path }) =>
    method === 'PUT' && path.includes(catalogKey) ? { status: 403, code: 'AccessDenied' } : undefined;
  await expect(run(data, machines.landing.asOf(0))).rejects.toThrow(
    /run 1 is in storage, but published\/offerline\.ducklake there.* the next run writes it.*HTTP 403/,
  );
  expect((await readPointer(machines.store))?.pointer.snapshots).toHaveLength(1);
  proxy.fault = () => undefined;
  const behind = await offerline(data.root, 'storage', 'lake');
  expect(behind.code).toBe(exitCode.failed);
  expect(behind.stdout).toContain('the next run writes it');

  await run(data, machines.landing.asOf(0));
  expect(await faultsOf(machines)).toEqual([]);
  const { code, stdout } = await offerline(data.root, 'storage', 'lake', '--json');
  expect({ code, answer: JSON.parse(stdout) as unknown }).toEqual({
    code: exitCode.done,
    answer: {
      attach: `ATTACH 'ducklake:${machines.store.url}/published/offerline.ducklake' AS lake (READ_ONLY)`,
      snapshots: await snapshotNames(data),
      is_current: true,
    },
  });
});
