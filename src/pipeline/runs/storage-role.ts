import { dirname } from 'node:path';
import { z } from 'zod';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { makePrivateFolder, replaceFile, type Effects } from '../../kit/files/effects.ts';
import { describeUnreadableNote, readNote, type UnreadableNote } from '../../kit/files/note-file.ts';
import type { Logger } from '../../kit/logging/log.ts';
import { RepeatedFailure } from '../../kit/logging/repeated-failure.ts';
import { momentOfMilliseconds } from '../../kit/time/moment.ts';
import { readHeldLease, realLeaseClocks } from './held-lease.ts';

/** Role in storage that a process of this machine last noted. `status` reads the note and does not ask storage. */
export type StorageRole = z.output<typeof storageRoleSchema>;

const storageRoleSchema = z.object({
  url: z.string(),
  role: z.enum(['writes', 'stands_by', 'follows']),
  since: z.string(),
  /** Name of the writer, where this process stands by. */
  writer: z.string().nullable(),
  /** Moment by this machine's clock at which a process on standby saw the writer's last renewal of the lease. */
  renewal_seen_at: z.string().nullable().default(null),
  /** Error of its last access to storage; null without one. */
  error: z.string().nullable(),
  error_since: z.string().nullable(),
  /** The last error and its time, also where storage has been used since. */
  last_error: z.string().nullable().default(null),
  last_error_at: z.string().nullable().default(null),
  /** Milliseconds by which this machine's clock is ahead of storage's, 5 s more or less; null where not known. */
  clock_offset: z.number().nullable().default(null),
});

/** A smaller change of the clock's offset is not written. Milliseconds. */
const offsetStep = 5_000;

export type ReportedRole = Pick<StorageRole, 'role'> &
  Partial<Pick<StorageRole, 'writer' | 'error'>> & { clockOffset?: number | undefined; renewalSeenAt?: string };

/** Writes the role to a file whenever it changes. Where that fails the work goes on. */
export class RoleNote {
  readonly #file: string;
  readonly #url: string;
  readonly #effects: Effects;
  readonly #logger: Logger;
  #written: StorageRole | undefined;
  readonly #failure = new RepeatedFailure();
  #writing: Promise<void> = Promise.resolve();

  constructor(file: string, url: string, { effects, logger }: { effects: Effects; logger: Logger }) {
    this.#file = file;
    this.#url = url;
    this.#effects = effects;
    this.#logger = logger;
    this.#written = readStorageRole(file, url, (note) => logger.warn(describeUnreadableNote(note)));
  }

  report(role: ReportedRole): Promise<void> {
    return (this.#writing = this.#writing.then(() => this.#write(role)));
  }

  /** Reports an error under the present role. */
  reportError(error: string): Promise<void> {
    return this.report({ role: this.#written?.role ?? 'stands_by', error });
  }

  async #write(reported: ReportedRole): Promise<void> {
    const { role, writer = null, error = null, clockOffset, renewalSeenAt: seen = null } = reported;
    const { files } = this.#effects;
    const before = this.#written;
    const offset = clockOffset ?? before?.clock_offset ?? null;
    const isSameClock =
      Math.abs((offset ?? Infinity) - (before?.clock_offset ?? Infinity)) < offsetStep || offset === null;
    const isSameLease = before?.writer === writer && before.renewal_seen_at === seen;
    if (before?.role === role && isSameLease && before.error === error && isSameClock) return;
    const at = momentOfMilliseconds(this.#effects.now());
    const next: StorageRole = {
      url: this.#url,
      role,
      since: before?.role === role ? before.since : at,
      writer,
      renewal_seen_at: seen,
      error,
      error_since: error === null ? null : (before?.error_since ?? at),
      last_error: error ?? before?.last_error ?? null,
      last_error_at: error === null || error === before?.error ? (before?.last_error_at ?? null) : at,
      clock_offset: offset,
    };
    try {
      makePrivateFolder(dirname(this.#file));
      await replaceFile(this.#file, `${JSON.stringify(next)}\n`, 'storage role', files, 0o600);
      this.#written = next;
      this.#failure.pass();
    } catch (failure) {
      // The next report tries again.
      if (this.#failure.isNew((failure as Error).message))
        this.#logger.warn(
          { err: failure },
          'the role of this process cannot be written for `offerline status`; will retry at the next look at storage',
        );
    }
  }

  /** Removes the note when the process ends normally. */
  async forget(): Promise<void> {
    await this.#writing;
    await this.#effects.files
      .remove(this.#file, 'storage role: forgotten')
      .catch((error: unknown) => this.#logger.warn({ err: error }, 'the note of the role cannot be removed'));
  }
}

/** Returns undefined where no role was noted, the note is of another storage, or it cannot be read. */
export function readStorageRole(
  file: string,
  url: string,
  onUnreadable?: (unreadable: UnreadableNote) => void,
): StorageRole | undefined {
  const role = readNote(file, storageRoleSchema, onUnreadable);
  return role?.url === url ? role : undefined;
}

/**
 * Returns whether this machine may be the one that writes to that storage: its schedule holds the lease, or it has no
 * schedule, as where cron begins runs.
 */
export function mayBeWriter(data: DataDirectory, url: string): boolean {
  const lease = readHeldLease(data, realLeaseClocks);
  return (lease?.left ?? 0) > 0 || readStorageRole(data.scheduleRoleFile, url) === undefined;
}
