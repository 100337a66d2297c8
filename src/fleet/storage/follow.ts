import { setTimeout } from 'node:timers/promises';
import type { StorageSettings } from '../../kit/config/storage-settings.ts';
import type { Logger } from '../../kit/logging/log.ts';
import { RepeatedFailure } from '../../kit/logging/repeated-failure.ts';
import { backoffWait } from '../../kit/time/backoff.ts';
import { currentName, snapshotNames } from '../../pipeline/snapshot/snapshot-store.ts';
import { snapshotsWithReaders } from '../../pipeline/snapshot/open-readers.ts';
import { ConfigurationComparison } from './configuration.ts';
import { writeLake } from '../../pipeline/snapshot/lake/write-lake.ts';
import { ObjectStore } from './object-store.ts';
import { lostPointer, readPointer, type StoredPointer } from './pointer.ts';
import { bringSnapshot, removeSnapshot, type BringingSnapshots } from './snapshots.ts';
import { assertFollowsOnSeen, rememberSeen } from './seen-pointer.ts';
import { RoleNote, type ReportedRole } from '../../pipeline/runs/storage-role.ts';

type FollowingStorage = BringingSnapshots & { logger: Logger };

/** Waits between looks, longer after failures: each look may fetch a whole snapshot in vain. */
const looks = { first: 2_000, max: 30_000 };

export interface Following {
  /** Ends once a snapshot under way is here or given up. */
  stop(): Promise<void>;
}

/**
 * Keeps `published/` here as storage has it: the newest snapshot is brought, verified and made current, old ones go
 * that nobody holds open. Where nothing is here yet the first look is awaited; whatever fails is said once, and what is
 * here stays. Throws `UsageError` where a key cannot be read.
 */
export async function followStorage(
  settings: StorageSettings,
  here: Omit<FollowingStorage, 'store'>,
  watchRole: (role: ReportedRole) => void = () => undefined,
): Promise<Following> {
  const { data, effects } = here;
  const store = await ObjectStore.open(settings);
  const ending = new AbortController();
  const note = new RoleNote(data.followingRoleFile, store.url, here);
  const follower = new Follower({ ...here, store });
  const look = async () => {
    await follower.look();
    watchRole(follower.role);
    await note.report(follower.role);
  };
  await effects.files.makeDirectory(data.published);
  const first = look();
  if ((await currentName(data)) === undefined) await first;
  const following = (async () => {
    await first;
    while (!ending.signal.aborted) {
      const wait = backoffWait(looks, follower.failures + 1);
      await setTimeout(wait, undefined, { signal: ending.signal }).catch(() => undefined);
      if (!ending.signal.aborted) await look();
    }
  })();
  return {
    async stop() {
      ending.abort();
      await following;
      await note.forget();
      store[Symbol.dispose]();
    },
  };
}

class Follower {
  /** Failed looks in a row. */
  failures = 0;
  readonly #following: FollowingStorage;
  readonly #comparison: ConfigurationComparison;
  readonly #failure = new RepeatedFailure();
  #known: StoredPointer | undefined;

  constructor(following: FollowingStorage) {
    this.#following = following;
    // All else of a writer's configuration says nothing to a service.
    this.#comparison = new ConfigurationComparison(following.data, ['sites.json']);
  }

  get role(): ReportedRole {
    return { role: 'follows', error: this.#failure.message ?? null, clockOffset: this.#following.store.clockOffset };
  }

  /** Looks at the pointer and brings what is new; says of what fails, and of the end of it, once. */
  async look(): Promise<void> {
    const { data, store, logger } = this.#following;
    try {
      const stored = await readPointer(store, this.#known);
      // Nothing was published yet, or what was is gone.
      if (stored === undefined && (await currentName(data)) !== undefined) throw lostPointer(store);
      if (stored !== undefined && stored !== this.#known) await this.#bring(stored);
      if (stored !== undefined) await this.#comparison.note(this.#following, store.url, stored.pointer);
      if (this.#failure.pass()) logger.info({ storage: store.url }, 'storage is followed again');
      this.failures = 0;
    } catch (error) {
      const { message } = error as Error;
      if (this.#failure.isNew(message))
        logger.warn(
          { storage: store.url },
          `storage cannot be followed, and the next look tries again; what is here is served on: ${message}`,
        );
      this.failures++;
    }
  }

  async #bring(stored: StoredPointer): Promise<void> {
    const { data, effects, store } = this.#following;
    const { snapshots } = stored.pointer;
    const [newest] = snapshots;
    // A storage where nothing was published yet takes nothing away.
    if (newest === undefined) return;
    assertFollowsOnSeen(data, store.url, stored);
    await bringSnapshot(this.#following, newest);
    await rememberSeen(data, store.url, stored.pointer, effects);
    const stay = new Set([...snapshots.map(({ snapshot_id }) => snapshot_id), ...(await snapshotsWithReaders(data))]);
    const here = await snapshotNames(data);
    await writeLake(
      data,
      here.filter((name) => stay.has(name)),
      effects,
    );
    this.#known = stored;
    for (const name of here) if (!stay.has(name)) await removeSnapshot(data, name, effects);
  }
}
