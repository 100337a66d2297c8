import { afterAll, beforeEach, expect, it, onTestFinished } from 'vitest';
import { refresh } from '../../../pipelines/refresh.ts';
import type { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { exitCode } from '../../../src/kit/errors/errors.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { noProgress } from '../../../src/kit/logging/progress.ts';
import { currentManifest } from '../../../src/pipeline/snapshot/snapshot-store.ts';
import { readPointer, type Pointer } from '../../../src/fleet/storage/pointer.ts';
import { wallClock } from '../../fault/lives/growing-landing.ts';
import { differences, publishedTables } from '../../fault/lives/published-tables.ts';
import { watchedEffects } from '../../fault/lives/watched-effects.ts';
import { Moto } from '../../s3/store/moto.ts';
import { command, endOf } from '../../support/commands.ts';
import { Machines } from './machines.ts';

const moto = await Moto.start();
await moto.createBucket();
afterAll(() => moto[Symbol.asyncDispose]());

const terminal = { logger: createLogger({ write: () => true }, 'silent'), progress: noProgress };

let seed = 2100;
let machines: Machines;
let one: DataDirectory;
let two: DataDirectory;

beforeEach(async () => {
  machines = await Machines.create(++seed, 6, [moto.url, moto.url]);
  onTestFinished(() => machines[Symbol.asyncDispose]());
  [one, two] = machines.together as [DataDirectory, DataDirectory];
});

const run = (data: DataDirectory, round: number, onStep: (step: string) => void = () => undefined) =>
  refresh(
    { data, terminal, asOf: machines.landing.asOf(round) },
    watchedEffects(wallClock, ({ step }) => onStep(step)),
  );

async function publish(data: DataDirectory, round: number): Promise<Pointer> {
  await machines.land(round);
  await run(data, round);
  return (await readPointer(machines.store))?.pointer as Pointer;
}

/** Restores the pointer from an older copy of the bucket; contents stay under their digests. */
const restore = (pointer: Pointer) => moto.put(`network-${seed}/current.json`, JSON.stringify(pointer));

it('a bucket that goes back is refused by a machine that has seen it newer, also once others have gone on', async () => {
  const old = await publish(one, 0);
  await run(machines.alone, 0);
  const seen = await publish(one, 1);
  const published = await currentManifest(one);
  await restore(old);
  const gone = `has gone back: run ${old.run_id} (swap ${old.swap}) is there, and this machine has seen run ${seen.run_id} (swap ${seen.swap})`;
  await machines.land(2);
  await expect(run(one, 2)).rejects.toThrow(gone);
  expect(await currentManifest(one)).toEqual(published);
  const status = await endOf(one.root, 'status');
  expect(status).toMatchObject({
    code: exitCode.failed,
    stderr: expect.stringMatching(/new prefix.*`offerline storage accept`/) as string,
  });

  // Another machine, which knows no better, goes on from there, beyond the number that was seen.
  for (const round of [2, 3, 4]) {
    await publish(two, round);
    await run(machines.alone, round);
  }
  await expect(run(one, 4)).rejects.toThrow('has gone back');

  const accepted = await command(one.root, 'storage', 'accept');
  expect(accepted).toContain(`is accepted in place of run ${seen.run_id} (swap ${seen.swap})`);
  expect(await command(one.root, 'storage', 'accept')).toContain('nothing to accept');
  await publish(one, 5);
  await run(machines.alone, 5);
  expect(differences(await publishedTables(machines.alone), await publishedTables(one))).toEqual([]);
  // The other one has seen all of this line.
  await run(two, 5);
});

it('a run during which the bucket goes back stays on its disk, for the operator to publish elsewhere', async () => {
  const old = await publish(one, 0);
  await publish(one, 1);
  await machines.land(2);
  let restored: Promise<void> | undefined;
  const effects = watchedEffects(wallClock, () => undefined);
  const perform: typeof effects.perform = async (step, work) => {
    if (step === 'storage: pointer swapped') await (restored ??= restore(old));
    return effects.perform(step, work);
  };
  const asOf = machines.landing.asOf(2);
  const failed = refresh({ data: one, terminal, asOf }, { ...effects, perform });
  await expect(failed).rejects.toThrow(/is done here and is not in storage; .*has gone back/);
  expect((await currentManifest(one))?.as_of).toBe(asOf);
});
