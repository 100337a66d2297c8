import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { storageSchema } from '../../../src/kit/config/storage-settings.ts';
import { ObjectStore } from '../../../src/fleet/storage/object-store.ts';
import { readPointer, type Pointer } from '../../../src/fleet/storage/pointer.ts';
import { GrowingLanding, type LandingOptions } from '../../fault/lives/growing-landing.ts';
import { bucketName } from '../../s3/store/moto.ts';

/** Storage of one network as `offerline.json` names it. */
export function storageAt(seed: number, endpoint: string) {
  return {
    url: `s3://${bucketName}/network-${seed}`,
    endpoint,
    access_key_id: 'AKIAOFFERLINETEST000',
    secret_access_key: 'very/secret+key/of/the/tests',
  };
}

/** Keys of a JSON file in the place of those that are there. */
export async function changeJson(path: string, keys: object): Promise<void> {
  const before = JSON.parse(await readFile(path, 'utf8').catch(() => '{}')) as object;
  await writeFile(path, JSON.stringify({ ...before, ...keys }));
}

/** Data directories of machines that share a landing and a storage, and of one that works alone on the same files. */
export class Machines implements AsyncDisposable {
  readonly landing: GrowingLanding;
  readonly alone: DataDirectory;
  readonly together: DataDirectory[];
  readonly store: ObjectStore;
  readonly #folder: string;
  readonly #seen: Pointer[] = [];

  /**
   * A machine for each endpoint, by which it reaches the storage; we look at it by `direct`. Networks of one
   * `landingSeed` land the same.
   */
  static async create(
    seed: number,
    rounds: number,
    endpoints: readonly string[],
    direct: string = endpoints[0] as string,
    { landingSeed = seed, ...options }: LandingOptions & { landingSeed?: number } = {},
  ): Promise<Machines> {
    const folder = await mkdtemp(join(tmpdir(), 'offerline-machines-'));
    const landing = new GrowingLanding(landingSeed, rounds, options);
    const data = (name: string) => new DataDirectory(join(folder, name));
    const together = endpoints.map((_, index) => data(`machine-${index + 1}`));
    for (const each of [data('alone'), ...together]) await landing.prepare(each);
    for (const [index, { settingsFile }] of together.entries())
      await changeJson(settingsFile, { storage: storageAt(seed, endpoints[index] as string) });
    const store = await ObjectStore.open(storageSchema.parse(storageAt(seed, direct)));
    return new Machines(landing, data('alone'), together, store, folder);
  }

  private constructor(
    landing: GrowingLanding,
    alone: DataDirectory,
    together: DataDirectory[],
    store: ObjectStore,
    folder: string,
  ) {
    this.landing = landing;
    this.alone = alone;
    this.together = together;
    this.store = store;
    this.#folder = folder;
  }

  async land(round: number): Promise<void> {
    for (const data of [this.alone, ...this.together]) await this.landing.land(data, round);
  }

  /** What is wrong with the pointer as it follows on those looked at before, a line each. */
  async forks(): Promise<string[]> {
    const stored = await readPointer(this.store);
    const before = this.#seen.at(-1);
    if (stored === undefined) return before === undefined ? [] : ['the pointer is gone'];
    const { pointer } = stored;
    if (JSON.stringify(pointer) === JSON.stringify(before)) return [];
    this.#seen.push(pointer);
    if (before === undefined) return [];
    const wrong: string[] = [];
    if (pointer.run_id < before.run_id) wrong.push(`run ${pointer.run_id} follows on run ${before.run_id}`);
    if (pointer.epoch < before.epoch) wrong.push(`epoch ${pointer.epoch} follows on ${before.epoch}`);
    const names = pointer.snapshots.map(({ snapshot_id }) => snapshot_id);
    const newestBefore = before.snapshots[0]?.snapshot_id;
    // With two kept snapshots, what was newest is the newest or the second, or two were published meanwhile.
    const published = pointer.snapshots.filter(
      ({ snapshot_id }) => !before.snapshots.some((one) => one.snapshot_id === snapshot_id),
    );
    if (newestBefore !== undefined && published.length < 2 && !names.includes(newestBefore))
      wrong.push(`${names.join(', ')} do not follow on ${newestBefore}`);
    return wrong;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.store[Symbol.dispose]();
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
