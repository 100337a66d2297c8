import { dirname } from 'node:path';
import { z } from 'zod';
import { makePrivateFolder, replaceFile, type Effects } from '../../kit/files/effects.ts';
import { describeUnreadableNote, readNote, type UnreadableNote } from '../../kit/files/note-file.ts';
import type { Logger } from '../../kit/logging/log.ts';
import { momentOfMilliseconds } from '../../kit/time/moment.ts';

/** What a process of this machine does with storage, as it last said so itself: for `status`, which asks no storage. */
export type StorageRole = z.output<typeof storageRoleSchema>;

const storageRoleSchema = z.object({
  url: z.string(),
  role: z.enum(['writes', 'stands_by', 'follows']),
  since: z.string(),
  /** Who writes where it stands by, as that one calls itself. */
  writer: z.string().nullable(),
  /** Why its last look at storage came to nothing; null where all is well. */
  error: z.string().nullable(),
  error_since: z.string().nullable(),
});

export type ToldRole = Pick<StorageRole, 'role'> & Partial<Pick<StorageRole, 'writer' | 'error'>>;

/** Writes the role down whenever it has changed. Where that fails the work goes on. */
export class RoleNote {
  readonly #file: string;
  readonly #url: string;
  readonly #effects: Effects;
  readonly #logger: Logger;
  #written: StorageRole | undefined;
  #complaint: string | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(file: string, url: string, { effects, logger }: { effects: Effects; logger: Logger }) {
    this.#file = file;
    this.#url = url;
    this.#effects = effects;
    this.#logger = logger;
    this.#written = readStorageRole(file, url, (note) => logger.warn(describeUnreadableNote(note)));
  }

  tell(told: ToldRole): Promise<void> {
    return (this.#writing = this.#writing.then(() => this.#write(told)));
  }

  /** What went wrong, whatever its role. */
  tellError(error: string): Promise<void> {
    return this.tell({ role: this.#written?.role ?? 'stands_by', error });
  }

  async #write({ role, writer = null, error = null }: ToldRole): Promise<void> {
    const { files } = this.#effects;
    const before = this.#written;
    if (before?.role === role && before.writer === writer && before.error === error) return;
    const at = momentOfMilliseconds(this.#effects.now());
    const next: StorageRole = {
      url: this.#url,
      role,
      since: before?.role === role ? before.since : at,
      writer,
      error,
      error_since: error === null ? null : (before?.error_since ?? at),
    };
    try {
      makePrivateFolder(dirname(this.#file));
      await replaceFile(this.#file, `${JSON.stringify(next)}\n`, 'storage role', files, 0o600);
      this.#written = next;
      this.#complaint = undefined;
    } catch (failure) {
      const { message } = failure as Error;
      // It is tried with each look.
      if (message !== this.#complaint)
        this.#logger.warn({ err: failure }, 'how this process stands with storage cannot be written down for `status`');
      this.#complaint = message;
    }
  }

  /** Of a process that ends as it should: nothing is amiss where nobody works. */
  async forget(): Promise<void> {
    await this.#writing;
    await this.#effects.files
      .remove(this.#file, 'storage role: forgotten')
      .catch((error: unknown) => this.#logger.warn({ err: error }, 'the note of the role cannot be removed'));
  }
}

/** Undefined where none was written, or of another storage, or it cannot be read. */
export function readStorageRole(
  file: string,
  url: string,
  onUnreadable?: (unreadable: UnreadableNote) => void,
): StorageRole | undefined {
  const role = readNote(file, storageRoleSchema, onUnreadable);
  return role?.url === url ? role : undefined;
}
